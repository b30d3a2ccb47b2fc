#pragma once

#include "sandbox/history.hpp"

#include <string>

/// The text of items, in the shapes of GitHub and Vercel. The same facts give the same bytes. Some
/// items hold what a reader that parses and prints again would change: an integer of 30 digits,
/// escapes, odd white space, numbers with exponents.
namespace sluice::sandbox {

class item_writer {
public:
  item_writer(const world& w, list_ref l);

  /// Appends the item as it stands in this list: a pull request in the list of issues looks like
  /// an issue.
  void append(std::string& out, const item_facts& f) const;

  /// The delivery id of an item (B19).
  [[nodiscard]] std::string delivery_id(const item_facts& f) const;

private:
  void append_thread(std::string& out, const item_facts& f) const;
  void append_release(std::string& out, const item_facts& f) const;
  void append_deployment(std::string& out, const item_facts& f) const;
  [[nodiscard]] std::uint64_t dice(const item_facts& f) const noexcept;
  [[nodiscard]] std::string release_id(std::uint32_t number) const;
  [[nodiscard]] std::string uid(std::uint32_t number) const;

  const world& world_;
  const list_ref list_;
  const std::string name_;        ///< `acme-1/web-3`
  const std::string owner_;       ///< `acme-1`
  const std::string provider_id_; ///< of the repository or project
  const std::string prefix_;      ///< of delivery ids
};

} // namespace sluice::sandbox
