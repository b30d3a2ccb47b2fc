#include "sandbox/world.hpp"

#include <array>
#include <charconv>

namespace sluice::sandbox {

namespace places {

constexpr std::uint64_t first_repo_id = 100'000'000;
constexpr std::uint64_t repos_per_tenant = 100'000;
constexpr std::array<std::string_view, 8> words{"web",     "api",    "docs",  "mobile",
                                                "billing", "search", "infra", "tools"};

/// The number that `text` consists of; nothing for signs, leading zeros and everything else.
std::optional<std::uint64_t> plain_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || text[0] == '0' || failed != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// The number after the last dash.
std::uint32_t number_at_end(std::string_view name) {
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos) return 0;
  return static_cast<std::uint32_t>(plain_number(name.substr(dash + 1)).value_or(0));
}

std::string_view word_of(resource_ref r) {
  return words[r.index % words.size()];
}

std::string owner_of(connection_ref c) {
  return "acme-" + std::to_string(c.number);
}

std::string project_id(std::uint64_t seed, resource_ref r) {
  const auto place = (std::uint64_t{r.owner.number} << 32) | r.index;
  return "prj_" + to_hex(place) + to_hex(mix64(seed, place)).substr(0, 12);
}

} // namespace places

std::string_view to_string(provider p) noexcept {
  return p == provider::github ? "github" : "vercel";
}

std::string_view to_string(entity e) noexcept {
  switch (e) {
  case entity::pull_request:
    return "pull_request";
  case entity::issue:
    return "issue";
  case entity::release:
    return "release";
  case entity::deployment:
    return "deployment";
  }
  return "";
}

std::uint32_t world::connections(provider p) const noexcept {
  if (p == provider::vercel) return options_.vercel_tenants;
  return options_.tenants + (options_.big_tenant > 0 ? 1 : 0);
}

std::optional<connection_ref> world::connection(std::string_view id) const {
  connection_ref c;
  c.number = places::number_at_end(id);
  if (id.starts_with('v')) c.from = provider::vercel;
  if (id == "big") c.number = options_.tenants + 1;
  if (c.number == 0 || c.number > connections(c.from) || id_of(c) != id) return std::nullopt;
  return c;
}

std::string world::id_of(connection_ref c) const {
  if (c.from == provider::vercel) return "vconn-" + std::to_string(c.number);
  return c.number > options_.tenants ? "big" : "conn-" + std::to_string(c.number);
}

std::string world::org_of(connection_ref c) const {
  return "org-" + id_of(c);
}

std::string world::external_id_of(connection_ref c) const {
  if (c.from == provider::vercel) return "team_" + to_hex(mix64(options_.seed, c.number));
  return std::to_string(50'000'000 + c.number);
}

std::uint32_t world::resources(connection_ref c) const noexcept {
  if (c.from == provider::vercel) return options_.projects;
  return c.number > options_.tenants ? options_.big_tenant : options_.repos;
}

std::uint64_t world::repo_id_of(resource_ref r) const noexcept {
  return places::first_repo_id + r.owner.number * places::repos_per_tenant + r.index;
}

std::string world::provider_id_of(resource_ref r) const {
  if (r.owner.from == provider::vercel) return places::project_id(options_.seed, r);
  return std::to_string(repo_id_of(r));
}

std::string world::name_of(resource_ref r) const {
  const auto name = std::string{places::word_of(r)} + "-" + std::to_string(r.index);
  return r.owner.from == provider::vercel ? name : places::owner_of(r.owner) + "/" + name;
}

std::string world::known_name_of(resource_ref r) const {
  if (!renamed(r)) return name_of(r);
  return places::owner_of(r.owner) + "/old-" + std::to_string(r.index);
}

bool world::renamed(resource_ref r) const noexcept {
  return r.owner.from == provider::github && options_.renamed_every > 0
         && r.index % options_.renamed_every == 0;
}

std::optional<world::named_repo> world::repo_named(std::string_view owner,
                                                   std::string_view name) const {
  named_repo found;
  found.repo.owner.number = places::number_at_end(owner);
  found.repo.index = places::number_at_end(name);
  const auto c = found.repo.owner;
  if (c.number == 0 || c.number > connections(provider::github) || !exists(found.repo))
    return std::nullopt;
  const auto full = std::string{owner} + "/" + std::string{name};
  if (full == name_of(found.repo)) return found;
  found.old_name = true;
  if (renamed(found.repo) && full == known_name_of(found.repo)) return found;
  return std::nullopt;
}

std::optional<resource_ref> world::repo_with_id(std::string_view id) const {
  const auto number = places::plain_number(id).value_or(0);
  if (number < places::first_repo_id) return std::nullopt;
  resource_ref r;
  r.owner.number =
    static_cast<std::uint32_t>((number - places::first_repo_id) / places::repos_per_tenant);
  r.index = static_cast<std::uint32_t>((number - places::first_repo_id) % places::repos_per_tenant);
  if (r.owner.number == 0 || r.owner.number > connections(provider::github) || !exists(r))
    return std::nullopt;
  return r;
}

std::optional<resource_ref> world::project_with_id(std::string_view id) const {
  if (id.size() != 32 || !id.starts_with("prj_")) return std::nullopt;
  std::uint64_t place = 0;
  const auto digits = id.substr(4, 16);
  const auto [stop, failed] = std::from_chars(digits.data(), digits.data() + 16, place, 16);
  if (failed != std::errc{} || stop != digits.data() + 16) return std::nullopt;
  resource_ref r;
  r.owner = {provider::vercel, static_cast<std::uint32_t>(place >> 32)};
  r.index = static_cast<std::uint32_t>(place);
  const bool there = r.owner.number >= 1 && r.owner.number <= connections(provider::vercel);
  if (!there || !exists(r) || places::project_id(options_.seed, r) != id) return std::nullopt;
  return r;
}

std::vector<entity> world::kinds(provider p) const {
  if (p == provider::vercel) return {entity::deployment};
  return {entity::pull_request, entity::issue, entity::release};
}

std::string world::delivery_prefix(list_ref l) const {
  auto text = "backfill-" + id_of(l.of.owner) + "-" + provider_id_of(l.of);
  switch (l.kind) {
  case entity::pull_request:
    return text + "-pr-";
  case entity::issue:
    return text + "-issue-";
  case entity::release:
    return text + "-release-";
  case entity::deployment:
    return text + "-deploy-";
  }
  return text;
}

} // namespace sluice::sandbox
