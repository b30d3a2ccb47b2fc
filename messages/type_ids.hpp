#pragma once

#include "messages/inspection.hpp"

#include <caf/atom.hpp>
#include <caf/type_id.hpp>

#include <vector>

/// The one CAF type-id block: what may leave the process, in the order that is the wire contract.
/// Everything else that actors send is marked `CAF_ALLOW_UNSAFE_MESSAGE_TYPE` beside its type.
CAF_BEGIN_TYPE_ID_BLOCK(sluice, first_custom_type_id)
CAF_ADD_TYPE_ID(sluice, (sluice::actor_card))
CAF_ADD_TYPE_ID(sluice, (std::vector<sluice::actor_card>))
CAF_ADD_ATOM(sluice, sluice, inspect_atom, "inspect")
CAF_ADD_ATOM(sluice, sluice, list_atom, "list")
CAF_ADD_ATOM(sluice, sluice, flush_atom, "flush")
CAF_ADD_ATOM(sluice, sluice, retry_atom, "retry")
CAF_ADD_ATOM(sluice, sluice, tick_atom, "tick")
CAF_ADD_ATOM(sluice, sluice, rescan_atom, "rescan")
CAF_ADD_ATOM(sluice, sluice, drain_atom, "drain")
CAF_END_TYPE_ID_BLOCK(sluice)
