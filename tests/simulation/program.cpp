#include "tests/simulation/program.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace sluice::simulation {

namespace {

void draw_trouble(dice& d, act& a, const shape_options& shapes) {
  if (!shapes.failures || !d.chance(45)) return;
  std::vector<trouble> ways{trouble::error, trouble::later, trouble::gate, trouble::gate_away};
  if (a.kind == act_kind::call) ways.push_back(trouble::vanish);
  a.how = d.pick(ways);
  a.fails = static_cast<std::uint32_t>(d.between(1, attempts_max - 1));
  a.time = d.millis(10, 3000);
  if (d.chance(10)) a.how = trouble::final;
  if (d.chance(8) && (a.how == trouble::error || a.how == trouble::later)) a.fails = 1000;
  a.tolerate = d.chance(50);
}

act draw_step(dice& d, std::string name, const shape_options& shapes) {
  act a;
  a.name = std::move(name);
  a.value = d.below(1000);
  a.kind = shapes.network && d.chance(50) ? act_kind::call : act_kind::add;
  if (shapes.once && d.chance(8)) a.kind = act_kind::once;
  draw_trouble(d, a, shapes);
  return a;
}

std::string draw_subject(dice& d) {
  return "go-" + std::to_string(d.below(3));
}

act draw_wait(dice& d, std::string name) {
  act a;
  a.kind = act_kind::wait;
  a.name = std::move(name);
  a.subject = draw_subject(d);
  if (d.chance(60)) a.time = d.millis(1, 20'000);
  return a;
}

act draw_sleep(dice& d, std::string name) {
  act a;
  a.kind = act_kind::sleep;
  a.name = std::move(name);
  a.time = d.chance(50) ? d.millis(0, 300) : d.millis(300, 30'000);
  return a;
}

act draw_send(dice& d, std::string name, const std::string& id) {
  act a;
  a.kind = act_kind::send;
  a.subject = d.chance(50) ? draw_subject(d) : id + "/" + name;
  a.name = std::move(name);
  return a;
}

act draw_invoke(dice& d, std::string name, const std::string& id, const shape_options& shapes,
                std::uint32_t depth) {
  act a;
  a.kind = act_kind::invoke;
  a.child.push_back(draw_program(d, id + "." + name, shapes, depth + 1));
  a.name = std::move(name);
  a.tolerate = d.chance(50);
  return a;
}

/// Parts of one kind, or one of each: what `context::all` takes.
act draw_all(dice& d, std::string name, const std::string& id, const shape_options& shapes,
             std::uint32_t depth) {
  act a;
  a.kind = act_kind::all;
  const auto size = d.between(2, 4);
  const auto part = [&](std::size_t n) { return name + "-" + std::to_string(n); };
  const auto way = d.below(4);
  if (way == 0 && shapes.events) {
    a.parts = {draw_step(d, part(1), shapes), draw_sleep(d, part(2)), draw_wait(d, part(3)),
               draw_send(d, part(4), id)};
  } else if (way == 1 && shapes.events) {
    for (std::size_t n = 1; n <= size; ++n)
      a.parts.push_back(draw_wait(d, part(n)));
  } else if (way == 2 && shapes.children && depth == 0) {
    for (std::size_t n = 1; n <= 2; ++n)
      a.parts.push_back(draw_invoke(d, part(n), id, shapes, depth));
  } else {
    for (std::size_t n = 1; n <= size; ++n)
      a.parts.push_back(draw_step(d, part(n), shapes));
  }
  for (auto& p : a.parts)
    p.tolerate = false;
  a.name = std::move(name);
  a.tolerate = d.chance(50);
  return a;
}

std::string time_text(duration t) {
  return std::to_string(t.count()) + "ms";
}

std::string trouble_text(const act& a) {
  if (a.how == trouble::none) return {};
  static const char* const names[] = {"none",      "error", "later", "gate",
                                      "gate-away", "final", "vanish"};
  auto text = " " + std::string{names[static_cast<std::size_t>(a.how)]};
  if (a.how != trouble::final) text += "x" + std::to_string(a.fails) + " " + time_text(a.time);
  return text;
}

std::string to_text(const act& a) {
  const std::string tolerated = a.tolerate ? " tolerated" : "";
  switch (a.kind) {
  case act_kind::add:
    return "add" + trouble_text(a) + tolerated;
  case act_kind::call:
    return "call" + trouble_text(a) + tolerated;
  case act_kind::once:
    return "once" + trouble_text(a) + tolerated;
  case act_kind::sleep:
    return "sleep " + time_text(a.time);
  case act_kind::send:
    return "send " + a.subject;
  case act_kind::wait:
    return "wait " + a.subject + (a.time == duration{} ? "" : " " + time_text(a.time));
  case act_kind::invoke:
    return "invoke{" + to_text(a.child.front()) + "}" + tolerated;
  case act_kind::all: {
    std::string text = "all[";
    for (const auto& p : a.parts)
      text += (text.back() == '[' ? "" : " | ") + to_text(p);
    return text + "]" + tolerated;
  }
  case act_kind::version:
    return "version";
  case act_kind::poison:
    return "POISON";
  }
  return {};
}

/// Takes what one act does; false: the program fails here.
bool expect(const program& p, const act& a, const observations& seen, program_end& end) {
  auto fails = [&](std::string code, const std::string& step) {
    if (a.tolerate) {
      end.result.said.push_back(a.name + "!" + code);
      return true;
    }
    end.code = std::move(code);
    end.step = step;
    return false;
  };
  switch (a.kind) {
  case act_kind::add:
  case act_kind::call:
  case act_kind::once:
    if (a.how == trouble::final) return fails("refused", a.name);
    if ((a.how == trouble::error || a.how == trouble::later) && a.fails >= attempts_max)
      return fails("step_failed", a.name);
    end.result.said.push_back(said_of(a, a.kind == act_kind::call ? provider_value(p.id, a.name)
                                                                  : std::to_string(a.value)));
    return true;
  case act_kind::wait:
    end.result.said.push_back(said_of(a, seen.wait(p, a)));
    return true;
  case act_kind::invoke: {
    const auto& child = a.child.front();
    if (auto code = seen.cut(child)) return fails(*code, a.name);
    const auto inner = expected_end(child, seen);
    if (inner.code) return fails(*inner.code, a.name);
    end.result.said.push_back(said_of(a, json::encode(inner.result)));
    return true;
  }
  case act_kind::all: {
    program_end inner;
    for (const auto& part : a.parts)
      if (!expect(p, part, seen, inner)) return fails(*inner.code, inner.step);
    std::ranges::move(inner.result.said, std::back_inserter(end.result.said));
    return true;
  }
  case act_kind::version:
    end.result.said.push_back(said_of(a, "2"));
    return true;
  case act_kind::sleep:
  case act_kind::send:
  case act_kind::poison:
    return true;
  }
  return true;
}

} // namespace

program draw_program(dice& d, std::string id, const shape_options& shapes, std::uint32_t depth) {
  program p;
  p.id = std::move(id);
  p.flow = d.pick(std::vector<std::string>{flow::plain, flow::plain, flow::limited, flow::throttled,
                                           flow::guarded, flow::apart});
  if (!shapes.flow.empty() && d.chance(80)) p.flow = shapes.flow;
  p.key = "k" + std::to_string(d.below(2));
  // A child that needs the slot its parent holds would wait for ever.
  if (depth > 0) p.flow = d.chance(50) ? flow::plain : flow::guarded;
  const auto acts = d.between(1, depth == 0 ? shapes.acts_max : 3);
  for (std::uint64_t n = 1; n <= acts; ++n) {
    const auto name = "a" + std::to_string(n);
    const auto way = d.below(100);
    if (way < 12)
      p.acts.push_back(draw_sleep(d, name));
    else if (way < 24 && shapes.events)
      p.acts.push_back(draw_wait(d, name));
    else if (way < 34 && shapes.events)
      p.acts.push_back(draw_send(d, name, p.id));
    else if (way < 44 && shapes.children && depth < 2)
      p.acts.push_back(draw_invoke(d, name, p.id, shapes, depth));
    else if (way < 60 && shapes.parallel)
      p.acts.push_back(draw_all(d, name, p.id, shapes, depth));
    else if (way < 64)
      p.acts.push_back(
        {.kind = act_kind::version, .name = name, .subject = {}, .parts = {}, .child = {}});
    else
      p.acts.push_back(draw_step(d, name, shapes));
  }
  return p;
}

std::string to_text(const program& p) {
  std::string text = p.id + " " + p.flow + " " + p.key + ":";
  for (const auto& a : p.acts)
    text += (text.back() == ':' ? " " : " · ") + to_text(a);
  return text;
}

bool contains(const program& p, act_kind kind) {
  bool found = false;
  const std::function<void(const act&)> look = [&](const act& a) {
    found = found || a.kind == kind;
    for (const auto& part : a.parts)
      look(part);
    for (const auto& c : a.child)
      found = found || contains(c, kind);
  };
  for (const auto& a : p.acts)
    look(a);
  return found;
}

void each_program(const program& p, const std::function<void(const program&)>& visit) {
  visit(p);
  const std::function<void(const act&)> look = [&](const act& a) {
    for (const auto& part : a.parts)
      look(part);
    for (const auto& c : a.child)
      each_program(c, visit);
  };
  for (const auto& a : p.acts)
    look(a);
}

std::string said_of(const act& a, std::string_view value) {
  return a.name + "=" + std::string{value};
}

std::string provider_value(std::string_view program_id, std::string_view act_name) {
  return std::to_string(hash64(act_name, hash64(program_id)) % 1000);
}

program_end expected_end(const program& p, const observations& seen) {
  program_end end;
  end.result.id = p.id;
  for (const auto& a : p.acts)
    if (!expect(p, a, seen, end)) break;
  return end;
}

} // namespace sluice::simulation
