#include "base/percent.hpp"
#include "base/url.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

namespace {

std::string text_of(std::string_view from) {
  auto u = url::parse(from);
  return u ? u->text() : "refused";
}

} // namespace

TEST_CASE("url: scheme, host and port have one form") {
  CHECK(text_of("HTTP://LocalHost:080/A?q=%7e#f") == "http://localhost/A?q=%7e");
  CHECK(text_of("https://api.github.com") == "https://api.github.com/");
  CHECK(text_of("https://h:443?x") == "https://h/?x");
  CHECK(text_of("http://h:443/") == "http://h:443/");
  CHECK(text_of("http://[::1]:8090/x") == "http://[::1]:8090/x");
  CHECK(text_of("http://h:/x") == "http://h/x");
  CHECK(text_of("https://a_b.C-d.example.:1/") == "https://a_b.c-d.example.:1/");
  CHECK(text_of("http://u:p@h/x") == "http://u:p@h/x");
}

TEST_CASE("url: everything but strict http and https is refused (S11)") {
  for (const char* wrong : {"",
                            "/x",
                            "h/x",
                            "//h/x",
                            "file:///etc/passwd",
                            "ftp://h/",
                            "gopher://h",
                            "http:///x",
                            "http://a\\@b/",
                            "http://a b/",
                            "http://h:0/",
                            "http://h:65536/",
                            "http://h:99999999999/",
                            "http://h:-1/",
                            "http://%00/",
                            "http://ex%2fample/",
                            "http://h/\r\nX: 1",
                            "http://h/ü",
                            "http://%6cocalhost/",
                            "http://h:1:2/",
                            "http://a@b@h/",
                            "http://[::1/",
                            "http://[::1]x/",
                            "http://[::g]/",
                            "http://::1/",
                            "http://h/%2",
                            "http://h/%zz",
                            "http://h/|",
                            "http:/h",
                            "http://.",
                            "http://2130706433/",
                            "http://0x7f.1/",
                            "http://0177.0.0.1/",
                            "http://127.0.0.1./",
                            "http://1.2.3/",
                            "http://1.2.3.256/",
                            "http://a.1/"}) {
    CAPTURE(wrong);
    CHECK(text_of(wrong) == "refused");
  }
  CHECK(text_of("http://h/" + std::string(20'000, 'a')) == "refused");
}

TEST_CASE("url: errors and printed forms keep secrets (S7)") {
  auto u = url::parse("https://user:hunter2@h:8443/a/b?token=hunter2#hunter2");
  REQUIRE(u);
  CHECK(u->printable() == "https://h:8443/a/b");
  CHECK(u->has_user_info());
  auto wrong = url::parse("https://user:hunter2@h:8443 /");
  REQUIRE(!wrong);
  CHECK(to_text(wrong.error()).find("hunter2") == std::string::npos);
  CHECK(code_of(wrong.error()) == errc::bad_input);
}

TEST_CASE("url: an origin is scheme, host and port (S12)") {
  auto origin = [](const char* text) { return url::parse(text)->where(); };
  CHECK(origin("https://H/a") == origin("https://h:443/b?c"));
  CHECK(origin("https://h") != origin("http://h"));
  CHECK(origin("https://h") != origin("https://h:8443"));
  CHECK(origin("https://h") != origin("https://h.evil"));
  CHECK(origin("https://u@h") == origin("https://h"));
  CHECK(to_string(origin("https://h:443/x")) == "https://h");
}

TEST_CASE("url: loopback is what is written as loopback") {
  auto loopback = [](const char* text) { return is_loopback(url::parse(text)->where()); };
  CHECK(loopback("http://localhost:1/"));
  CHECK(loopback("http://127.0.0.1/"));
  CHECK(loopback("http://127.9.9.9/"));
  CHECK(loopback("http://[::1]/"));
  CHECK(!loopback("http://127.0.0.1.evil/"));
  CHECK(!loopback("http://localhost.evil/"));
  CHECK(!loopback("http://10.0.0.1/"));
  CHECK(!loopback("http://[::2]/"));
}

TEST_CASE("url: a base takes a path, with or without slashes") {
  auto joined = [](const char* base, const char* path) {
    auto u = url::parse(base)->join(path);
    return u ? u->text() : "refused";
  };
  CHECK(joined("https://ghe/api/v3/", "/user?a=1") == "https://ghe/api/v3/user?a=1");
  CHECK(joined("https://ghe/api/v3", "user") == "https://ghe/api/v3/user");
  CHECK(joined("https://ghe", "/user") == "https://ghe/user");
  CHECK(joined("https://ghe/?old=1", "/user") == "https://ghe/user");
  CHECK(joined("https://ghe/api", "") == "https://ghe/api/");
  CHECK(joined("https://ghe/api", "//evil/x") == "https://ghe/api/evil/x");
  CHECK(joined("https://ghe/api", "/a/../../x") == "refused");
  CHECK(joined("https://ghe/api", "/a/%2e%2E/x") == "refused");
  CHECK(joined("https://ghe/api", "/a b") == "refused");
}

TEST_CASE("url: a reference is resolved as a browser does") {
  auto resolved = [](const char* reference) {
    auto u = url::parse("https://h/a/b?x=1")->resolve(reference);
    return u ? u->text() : "refused";
  };
  CHECK(resolved("/c?page=2") == "https://h/c?page=2");
  CHECK(resolved("c") == "https://h/a/c");
  CHECK(resolved("../../../c/./d/..") == "https://h/c/");
  CHECK(resolved("") == "https://h/a/b?x=1");
  CHECK(resolved("#f") == "https://h/a/b?x=1");
  CHECK(resolved("?page=2") == "https://h/a/b?page=2");
  CHECK(resolved("//evil/c") == "https://evil/c");
  CHECK(resolved("http://h/c") == "http://h/c");
  CHECK(resolved("\\\\evil/c") == "refused");
  CHECK(resolved("file:///etc/passwd") == "refused");
  CHECK(resolved("h ttp://") == "refused");
}

TEST_CASE("percent: what goes into a path or query cannot end it") {
  CHECK(percent_encode("a-b_c.d~9") == "a-b_c.d~9");
  CHECK(percent_encode("a/b?c&d=e f+ü") == "a%2Fb%3Fc%26d%3De%20f%2B%C3%BC");
}
