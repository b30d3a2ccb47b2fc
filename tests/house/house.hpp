#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The rules of the house that a program can check, as functions on paths and text. Paths are
/// relative to the source tree, with `/`. Each function returns what is wrong, a sentence each.
namespace house {

using findings = std::vector<std::string>;

struct source_file {
  std::string path;
  std::string text;
};

/// The folders whose headers a file may include, and the libraries that have one home.
findings check_includes(const source_file& f);

/// Clocks, chance, the environment and sleep belong to few files: everything else is told.
findings check_calls(const source_file& f);

/// At 400 lines there usually is a second noun inside.
findings check_length(const source_file& f);

/// No file knows the machine it was written on, nor where packages come from.
findings check_places(const source_file& f);

/// Each folder with something to compile or to run says in a README what it is for.
findings check_readmes(const std::vector<source_file>& files);

/// Each page under docs/decisions is linked from the list there.
findings check_decisions(const std::vector<source_file>& files);

/// `symbols` as `nm -D --defined-only` prints them. libcaf was built by another compiler, which
/// initialises a static inside a template differently; a program that defines it too crashes.
findings check_symbols(std::string_view symbols);

/// All checks of single files.
findings check_file(const source_file& f);

/// The text without comments and without what stands in quotes, line by line as before.
std::string code_only(std::string_view text);

bool is_cpp(std::string_view path);

} // namespace house
