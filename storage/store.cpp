#include "storage/store.hpp"

namespace sluice {

std::string_view to_string(commit_status s) noexcept {
  switch (s) {
  case commit_status::committed:
    return "committed";
  case commit_status::fenced:
    return "fenced";
  case commit_status::conflict:
    return "conflict";
  case commit_status::unknown:
    return "unknown";
  case commit_status::full:
    return "full";
  case commit_status::failed:
    return "failed";
  }
  return "unknown";
}

} // namespace sluice
