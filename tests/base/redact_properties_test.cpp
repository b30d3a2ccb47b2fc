#include "base/json.hpp"
#include "base/redact.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace sluice;

namespace {

constexpr const char* kept = "kept-value-0123456789";

/// Text made of what the redactor looks for, in every order.
rc::Gen<std::string> tricky_text() {
  auto piece = rc::gen::element<std::string>(
    "a", "Z9", " ", "\t", "\n", "\"", "'", "\\", "\\\"", ":", "=", "&", "?", "#", ",", ";", "[",
    "]", "{", "}", "@", "://", "/", ".", "-", "_", "token", "password", "authorization", "Cookie",
    "key", "code", "Bearer ", "bearer", "ghp_", "ghp_abc", "glpat-", "github_pat_", "null", "true",
    "[redacted]", "redacted", kept);
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(std::move(piece)),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const auto& p : pieces)
                          text += p;
                        return text;
                      });
}

/// A token that no other part of a text contains.
rc::Gen<std::string> token_text() {
  const auto letter = rc::gen::elementOf(std::string{"ABCDEFGHJKMNPQRSTUVWXYZ23456789"});
  return rc::gen::map(rc::gen::container<std::string>(12, letter),
                      [](const std::string& s) { return "QQ" + s; });
}

} // namespace

TEST_CASE("redact: a second time changes nothing (X9)") {
  keep_secret(kept);
  CHECK(rc::check([] {
    const auto once = redact(*tricky_text());
    RC_ASSERT(redact(once) == once);
  }));
}

TEST_CASE("redact: a planted token never shows, whatever stands around it (X9, S9)") {
  CHECK(rc::check([] {
    const auto token = *token_text();
    const auto planted = *rc::gen::element<std::string>(
      "ghp_" + token, "gho_" + token, "ghs_" + token, "github_pat_11_" + token, "glpat-" + token);
    const auto text = *tricky_text() + planted + *tricky_text();
    RC_ASSERT(redact(text).find(token) == std::string::npos);
  }));
}

TEST_CASE("redact: the value of a secret name never shows, however it is written (X9, S9)") {
  CHECK(rc::check([] {
    const auto token = *token_text();
    const auto name = *rc::gen::element<std::string>("token", "access_token", "Authorization",
                                                     "client_secret", "X-Api-Key", "password");
    json::writer w;
    w.obj().key("before").str(*tricky_text()).key(name).str(*tricky_text() + token);
    const auto object = w.end().take();
    const auto text = *rc::gen::element<std::string>(
      std::string{object}, json::quoted(object), "?" + name + "=" + token + "&b=1",
      name + ": " + token, "Bearer " + token, "https://u:" + token + "@host/p");
    RC_ASSERT(redact(text).find(token) == std::string::npos);
  }));
}

TEST_CASE("redact: a value that was given never shows, whatever stands around it (X9)") {
  keep_secret(kept);
  CHECK(rc::check([] {
    const auto text = *tricky_text() + kept + *tricky_text();
    RC_ASSERT(redact(text).find(kept) == std::string::npos);
  }));
}
