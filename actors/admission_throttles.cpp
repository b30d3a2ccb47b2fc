#include "actors/admission.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"

#include <algorithm>

namespace sluice {

namespace {

constexpr const char* throttle_prefix = "throttle/";

} // namespace

std::string admission_state::throttle_name(const workflow& flow, const run_row& row) {
  auto key = throttle_prefix + flow.name + "/" + (row.keys.empty() ? "" : row.keys.back());
  // Keys come from inputs and may be of any length, those of the store may not.
  if (key.size() > row_key_bytes_max)
    key = key.substr(0, row_key_bytes_max - 32) + to_hex(hash64(key, 1)) + to_hex(hash64(key, 2));
  return key;
}

load_table admission_state::stored_throttles() {
  return load_table{table::limit, throttle_prefix, {}, 1'000'000};
}

/// Takes as many tokens as there are, stores the bucket, and only then lets the runs through.
void admission_state::run_throttle(const std::string& gate) {
  auto& t = throttles[gate];
  if (t.saving || draining) return;
  while (!t.waiting.empty()) {
    auto answer = take(t.state, 1, t.config, now());
    t.state = answer.next;
    if (!answer.granted) {
      if (t.tick_at == never || answer.at < t.tick_at) {
        t.tick_at = answer.at;
        const auto wait =
          std::max(clock.when(answer.at) - self->clock().now(), steady_point::duration{});
        self->delayed_send(self, wait, tick_atom_v);
      }
      break;
    }
    t.granted.push_back(t.waiting.front());
    t.waiting.pop_front();
  }
  if (t.granted.empty()) return;
  t.saving = true;
  const auto id = next_token++;
  saving.emplace(id, gate);
  append order{caf::actor_cast<commit_sink>(self), id, {}};
  order.ops.push_back(put_row{table::limit, gate, json::encode(t.state)});
  self->send(core.journal, std::move(order));
}

void admission_state::tick() {
  if (unread) load_page(*std::exchange(unread, std::nullopt));
  const auto time = now();
  for (auto& [gate, t] : throttles) {
    if (t.tick_at == never || t.tick_at > time) continue;
    t.tick_at = never;
    run_throttle(gate);
  }
}

void admission_state::saved(const appended& done) {
  for (auto id : done.ids) {
    if (auto resumed = resuming.extract(id); !resumed.empty()) {
      auto& r = resumed.mapped();
      others.erase(r.start.row.id);
      admit(std::move(r.start));
      r.answer.deliver(run_resumed{run_status::recovering});
      continue;
    }
    auto node = saving.extract(id);
    if (node.empty()) continue;
    const auto gate = node.mapped();
    auto& t = throttles[gate];
    t.saving = false;
    for (auto run : std::exchange(t.granted, {})) {
      auto known = others.find(run);
      if (known == others.end()) continue;
      known->second.where = whereabouts::queued;
      queue(run, *known->second.start, queue_position::newcomer);
    }
    run_throttle(gate);
  }
}

} // namespace sluice
