#pragma once

#include "api/api.hpp"

namespace sluice::api {

/// GET /actors: {actors: [{kind, id, label, mailbox, state, handled, busyUs, waitsFor}]}, the cards
/// that the actors of the node tell of themselves.
void list_actors(api_state& s, const call_ptr& c);

} // namespace sluice::api
