#include "base/redact.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

struct example {
  const char* text;
  const char* safe;
};

void check_all(std::initializer_list<example> examples) {
  for (const auto& e : examples) {
    CAPTURE(e.text);
    CHECK(redact(e.text) == e.safe);
  }
}

} // namespace

TEST_CASE("redact: ordinary text stays as it is") {
  for (const auto* text : {"", "run 0192f3a4 completed in 12 ms",
                           "GET http://127.0.0.1:8090/runs?limit=5&cursor=abc 200",
                           R"({"code":404,"status":"parked","count":3,"email":"a@b.c"})",
                           "code=step_failed key=tenant-1", "mail to bob@example.com",
                           "10:15:00 a:b = c", "https://example.com/a@b"}) {
    CAPTURE(text);
    CHECK(redact(text) == text);
  }
}

TEST_CASE("redact: tokens of known shape go, wherever they stand (X9)") {
  check_all({
    {"pushed with ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "pushed with [redacted]"},
    {"xgho_abc,ghs_def", "x[redacted],[redacted]"},
    {"(github_pat_11ABC_def)", "([redacted])"},
    {"glpat-Ab-c_1 rest", "[redacted] rest"},
    {"prefix ghp_ alone", "prefix ghp_ alone"},
    {"sent Bearer abc.def-ghi/jkl+m== to host", "sent Bearer [redacted] to host"},
    {"BEARER  x", "BEARER  [redacted]"},
    {"bearers wait", "bearers wait"},
  });
}

TEST_CASE("redact: user info of URLs goes (X9, S9)") {
  check_all({
    {"clone https://user:pa:ss@example.com/x.git", "clone https://[redacted]@example.com/x.git"},
    {"postgres://me@db/x?sslmode=on", "postgres://[redacted]@db/x?sslmode=on"},
    {"http://a:b@c http://d:e@f", "http://[redacted]@c http://[redacted]@f"},
    {"http://[::1]:80/", "http://[::1]:80/"},
  });
}

TEST_CASE("redact: headers go with all of their value (S9)") {
  check_all({
    {"Authorization: Basic dXNlcjpwYXNz\nHost: a", "Authorization: [redacted]\nHost: a"},
    {"authorization=Digest a=\"b\", c=d", "authorization=[redacted]"},
    {"Cookie: a=1; b=2\r\nX: y", "Cookie: [redacted]\r\nX: y"},
    {"set-cookie: sid=1; Path=/", "set-cookie: [redacted]"},
    {"X-Api-Key: k1 next", "X-Api-Key: [redacted] next"},
    {"Proxy-Authorization: Basic x", "Proxy-Authorization: [redacted]"},
    {"X-Hub-Signature-256: sha256=ab", "X-Hub-Signature-256: [redacted]"},
  });
}

TEST_CASE("redact: values of secret names go in JSON, escaped JSON, queries and text (S9)") {
  check_all({
    {R"({"access_token":"a\"b","n":1})", R"({"access_token":"[redacted]","n":1})"},
    {R"({"password" : 12345678,"n":1})", R"({"password" : [redacted],"n":1})"},
    {R"({"clientSecret":["a","]"],"n":{}})", R"({"clientSecret":[redacted],"n":{}})"},
    {R"({"credentials":{"user":"u","pass":"p"}})", R"({"credentials":[redacted]})"},
    {R"({"token":null,"secret":"","n":1})", R"({"token":null,"secret":"","n":1})"},
    {R"("{\"token\":\"a\\\"b\",\"n\":1}")", R"("{\"token\":\"[redacted]\",\"n\":1}")"},
    {"{\"token\":\n  \"abc\"}", "{\"token\":\n  \"[redacted]\"}"},
    {R"({"code":"oauth-code","key":"k"})", R"({"code":"[redacted]","key":"[redacted]"})"},
    {"/cb?code=abc&state=x&apiKey=y#top", "/cb?code=[redacted]&state=x&apiKey=[redacted]#top"},
    {"token=abc, user=bob", "token=[redacted], user=bob"},
    {"password='two words' x", "password='[redacted]' x"},
    {"token=\"never closed", "token=\"[redacted]"},
  });
}

TEST_CASE("redact: names are known in every spelling (S9)") {
  for (const auto* name : {"authorization", "Cookie", "set-cookie", "x-api-key", "apiKey",
                           "API_KEY", "token", "refreshToken", "access_token", "client_secret",
                           "PASSWORD", "passphrase", "proxy-authorization", "signature",
                           "x-hub-signature-256", "private_key", "credentials", "jwt"}) {
    CAPTURE(name);
    CHECK(is_secret_name(name));
  }
  for (const auto* name :
       {"", "run", "key", "code", "tokens_left", "author", "monkey", "cookie_count"}) {
    CAPTURE(name);
    CHECK_FALSE(is_secret_name(name));
  }
}

TEST_CASE("redact: a value that was given is found in plain, JSON and URL spelling (X9)") {
  keep_secret("s3cr3t \"value\"/1");
  check_all({
    {"it is s3cr3t \"value\"/1!", "it is [redacted]!"},
    {R"(it is "s3cr3t \"value\"/1")", R"(it is "[redacted]")"},
    {"/x?q=s3cr3t%20%22value%22%2F1", "/x?q=[redacted]"},
  });
}

TEST_CASE("redact: of two values that overlap nothing shows") {
  keep_secret("overlap-one-");
  keep_secret("one-and-two");
  CHECK(redact("<overlap-one-and-two>") == "<[redacted]>");
}

TEST_CASE("redact: short values and the mask itself are not taken") {
  keep_secret("seven77");
  keep_secret("redacted");
  CHECK(redact("seven77 [redacted]") == "seven77 [redacted]");
}

TEST_CASE("redact: a value whose end is a guess hides no secret after it (X9)") {
  CHECK(redact(R"({"a":"Cookie='","password":"'QQ8"})").find("QQ8") == std::string::npos);
  CHECK(redact(R"({"a":"token=[","password":"] QQ8"})").find("QQ8") == std::string::npos);
}

TEST_CASE("redact: hostile text costs no more than its length allows (S13)") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "token=[";
  for (int i = 0; i < 20'000; ++i)
    text += "]";
  CHECK(redact(text) == "token=[redacted]");
  CHECK(redact("password=\"" + std::string(1'000'000, '\\')) == "password=\"[redacted]");
}
