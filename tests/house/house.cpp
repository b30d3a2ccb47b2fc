#include "house.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace house {

namespace {

using names = std::vector<std::string_view>;

const names code_folders{"base",       "http",    "messages",  "rules",  "storage",
                         "connectors", "config",  "workflows", "actors", "api",
                         "console",    "sandbox", "bench",     "app",    "tests"};

/// Who may include whom. A folder may always include itself; what is missing here may include all.
const std::map<std::string_view, names> rows{
  {"base", {}},
  {"http", {"base", "messages"}},
  {"messages", {"base"}},
  {"rules", {"base", "messages"}},
  {"storage", {"base", "messages", "rules"}},
  {"connectors", {"base", "messages", "rules"}},
  {"config", {"base", "messages", "rules"}},
  {"workflows", {"base", "messages", "rules", "connectors"}},
  {"actors", {"base", "http", "messages", "rules", "storage", "connectors", "workflows"}},
  {"api", {"base", "http", "messages", "rules"}},
  {"console", {"base", "http", "messages", "rules"}},
  {"sandbox", {"base", "http", "messages", "rules"}},
  {"bench",
   {"base", "http", "messages", "rules", "storage", "connectors", "config", "workflows", "actors",
    "api", "console", "sandbox", "app"}},
  {"app",
   {"base", "http", "messages", "rules", "storage", "connectors", "config", "workflows", "actors",
    "api", "console", "sandbox", "bench"}},
};

/// Where the headers of a library may be included: beginnings of paths.
struct home {
  std::string_view header; ///< the beginning of what stands between the brackets
  names paths;
};

const std::vector<home> homes{
  {"boost/", {"http/", "bench/", "tests/"}},
  {"caf/all.hpp", {}},
  {"caf/actor_system", {"actors/", "api/", "app/", "bench/", "tests/"}},
  {"caf/scoped_actor", {"app/", "bench/", "tests/"}},
  {"caf/", {"base/", "messages/", "actors/", "api/", "app/", "bench/", "tests/"}},
  {"catch2/", {"tests/"}},
  {"CLI/", {"app/", "tests/simulation/main.cpp"}},
  {"curl/", {"http/curl_", "bench/"}},
  {"date/", {"rules/cron."}},
  {"lmdb.h", {"storage/lmdb", "tests/storage/"}},
  {"openssl/", {"base/", "http/", "tests/"}},
  {"rapidcheck", {"tests/"}},
  {"simdjson.h", {"base/json", "connectors/items."}},
  {"spdlog/", {"base/log.cpp"}},
  {"toml++/", {"config/load.cpp"}},
  {"xxhash.h", {"base/hash.cpp"}},
};

/// What only some files may call.
struct forbidden {
  std::string_view name;
  std::regex pattern;
  names paths;
};

const std::vector<forbidden>& forbidden_calls() {
  static const std::vector<forbidden> all{
    // A log line says when it was written; sockets have deadlines in real time.
    {"the clock",
     std::regex{
       R"(::\s*now\s*\(|\bclock_gettime\s*\(|\bgettimeofday\s*\(|\btime\s*\(\s*(nullptr|NULL|0)\s*\))"},
     {"base/clock.cpp", "base/log.cpp", "http/connection.cpp", "http/curl_loop.cpp", "bench/",
      "app/", "tests/"}},
    {"chance", std::regex{R"(\bs?rand\s*\(|\brandom_device\b)"}, {"bench/", "app/", "tests/"}},
    {"the environment", std::regex{R"(\b(secure_)?getenv\s*\()"}, {"bench/", "app/", "tests/"}},
    {"sleep",
     std::regex{R"(\bsleep_(for|until)\b|\b(u|nano)?sleep\s*\(\s*\d)"},
     {"bench/", "app/", "tests/"}},
  };
  return all;
}

constexpr std::size_t lines_max = 450;

bool ends_with_any(std::string_view path, const names& ends) {
  return std::ranges::any_of(ends, [&](auto end) { return path.ends_with(end); });
}

bool begins_with_any(std::string_view path, const names& beginnings) {
  return std::ranges::any_of(beginnings, [&](auto b) { return path.starts_with(b); });
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string at(const source_file& f, std::size_t line) {
  return f.path + ":" + std::to_string(line) + ": ";
}

/// Calls `visit(line number, line)`.
template <class Visit>
void each_line(std::string_view text, Visit visit) {
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(++number, text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
}

void check_ours(const source_file& f, std::size_t line, std::string_view included,
                findings& found) {
  const auto from = folder_of(f.path);
  const auto to = folder_of(included);
  if (to.empty() || to == from || std::ranges::find(code_folders, to) == code_folders.end()) return;
  const auto row = rows.find(from);
  if (row == rows.end() && from == "tests") return;
  if (row != rows.end() && std::ranges::find(row->second, to) != row->second.end()) return;
  found.push_back(at(f, line) + std::string{from} + " may not include " + std::string{to});
}

void check_library(const source_file& f, std::size_t line, std::string_view included,
                   findings& found) {
  const auto h =
    std::ranges::find_if(homes, [&](auto& x) { return included.starts_with(x.header); });
  if (h == homes.end() || begins_with_any(f.path, h->paths)) return;
  found.push_back(at(f, line) + "<" + std::string{included} + "> is not at home here");
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
         || c == '-' || c == '.';
}

/// Does `word` stand in `line` as a whole, with nothing of a longer path or name around it?
bool holds_path(std::string_view line, std::string_view word) {
  for (auto p = line.find(word); p != std::string_view::npos; p = line.find(word, p + 1)) {
    const auto end = p + word.size();
    const bool begins = p == 0 || !is_word(line[p - 1]);
    // A full stop ends a sentence as well as a word.
    const bool ends = end == line.size() || !is_word(line[end]) || line[end] == '.';
    if (begins && ends) return true;
  }
  return false;
}

/// How much of `text` from its beginning on up to and including `end`: all when there is none.
std::size_t up_to(std::string_view text, std::string_view end, std::size_t from) {
  const auto found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

/// The length of the comment or literal that begins at `at`; 0 when none does. By hand, because
/// std::regex recurses once per character.
std::size_t aside(std::string_view text, std::size_t at) {
  const auto rest = text.substr(at);
  const auto before = at == 0 ? ' ' : text[at - 1];
  if (rest.starts_with("//")) return std::min(rest.find('\n'), rest.size());
  if (rest.starts_with("/*")) return up_to(rest, "*/", 2);
  if (rest.starts_with("R\"") && !is_word(before)) {
    const auto open = rest.find('(');
    if (open == std::string_view::npos) return 0;
    return up_to(rest, ")" + std::string{rest.substr(2, open - 2)} + "\"", open);
  }
  // After a digit or letter a quote separates digits: 1'000, 0xff'ff.
  const bool quote = rest[0] == '"' || (rest[0] == '\'' && !is_word(before));
  if (!quote) return 0;
  std::size_t i = 1;
  while (i < rest.size() && rest[i] != rest[0] && rest[i] != '\n')
    i += rest[i] == '\\' ? 2 : 1;
  return std::min(i + 1, rest.size());
}

} // namespace

bool is_cpp(std::string_view path) {
  return ends_with_any(path, {".cpp", ".hpp"});
}

std::string code_only(std::string_view text) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size()) {
    const auto length = aside(text, i);
    if (length == 0) {
      out.push_back(text[i++]);
      continue;
    }
    std::ranges::copy_if(text.substr(i, length), std::back_inserter(out),
                         [](char c) { return c == '\n'; });
    i += length;
  }
  return out;
}

findings check_includes(const source_file& f) {
  findings found;
  if (!is_cpp(f.path)) return found;
  static const std::regex include{R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re"};
  each_line(f.text, [&](std::size_t number, std::string_view line) {
    std::match_results<std::string_view::const_iterator> m;
    if (!std::regex_search(line.begin(), line.end(), m, include)) return;
    const std::string included = m[2];
    if (m[1] == "\"") check_ours(f, number, included, found);
    check_library(f, number, included, found);
  });
  return found;
}

findings check_calls(const source_file& f) {
  findings found;
  if (!is_cpp(f.path)) return found;
  each_line(code_only(f.text), [&](std::size_t number, std::string_view line) {
    for (const auto& call : forbidden_calls()) {
      if (begins_with_any(f.path, call.paths)) continue;
      if (std::regex_search(line.begin(), line.end(), call.pattern))
        found.push_back(at(f, number) + std::string{call.name} + " is passed in, not asked");
    }
  });
  return found;
}

findings check_length(const source_file& f) {
  if (!is_cpp(f.path)) return {};
  const auto lines = static_cast<std::size_t>(std::ranges::count(f.text, '\n'));
  if (lines <= lines_max) return {};
  return {f.path + ": " + std::to_string(lines) + " lines, more than " + std::to_string(lines_max)};
}

findings check_places(const source_file& f) {
  // In pieces, or this very file would be a finding.
  static const std::vector<std::string> paths{std::string{"/"} + "work", std::string{"/"} + "root",
                                              std::string{"/"} + "home"};
  static const std::vector<std::string> hosts{
    std::string{"deb.debian"} + ".org", std::string{"security.debian"} + ".org",
    std::string{"registry.npmjs"} + ".org", std::string{"pypi"} + ".org",
    std::string{"archive.ubuntu"} + ".com"};
  findings found;
  each_line(f.text, [&](std::size_t number, std::string_view line) {
    for (const auto& p : paths)
      if (holds_path(line, p)) found.push_back(at(f, number) + "names a path of some machine");
    for (const auto& h : hosts)
      if (line.find(h) != std::string_view::npos)
        found.push_back(at(f, number) + "names a package host");
  });
  return found;
}

findings check_readmes(const std::vector<source_file>& files) {
  std::set<std::string> with_code;
  std::set<std::string> with_readme;
  for (const auto& f : files) {
    const std::string folder{folder_of(f.path)};
    if (ends_with_any(f.path, {".cpp", ".cmake", ".sh", ".ts", ".tsx"})) with_code.insert(folder);
    if (f.path == folder + "/README.md") with_readme.insert(folder);
  }
  findings found;
  for (const auto& folder : with_code)
    if (!with_readme.contains(folder)) found.push_back(folder + " has code and no README.md");
  return found;
}

findings check_decisions(const std::vector<source_file>& files) {
  constexpr std::string_view folder = "docs/decisions/";
  const auto index =
    std::ranges::find(files, std::string{folder} + "README.md", &source_file::path);
  findings found;
  for (const auto& f : files) {
    if (!f.path.starts_with(folder) || f.path.ends_with("/README.md")) continue;
    const auto page = f.path.substr(folder.size());
    if (index == files.end() || index->text.find("(" + page + ")") == std::string::npos)
      found.push_back(f.path + " is not in the list of decisions");
  }
  return found;
}

findings check_symbols(std::string_view symbols) {
  findings found;
  each_line(symbols, [&](std::size_t, std::string_view line) {
    if (line.find("option_meta_state_instance") != std::string_view::npos)
      found.push_back("the binary defines " + std::string{line} + ": it registers a CAF option");
  });
  return found;
}

findings check_file(const source_file& f) {
  findings all;
  for (auto check : {check_includes, check_calls, check_length, check_places})
    std::ranges::move(check(f), std::back_inserter(all));
  return all;
}

} // namespace house
