#include "ahead/step.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/streams.h"
#include "operator/gpu_call.h"
#include "runtime/memory.h"

namespace avida {
namespace {

constexpr int64_t kFewBytes = 4096;

std::vector<BoundArg> without_values(std::span<const BoundArg> args) {
  std::vector<BoundArg> out(args.begin(), args.end());
  for (BoundArg& arg : out)
    if (auto* value = std::get_if<ValuePtr>(&arg)) value->reset();
  return out;
}

std::optional<size_t> index_of(const Value* value, const std::vector<ValuePtr>& values) {
  if (!value) return {};
  return std::ranges::find(values, value, &ValuePtr::get) - values.begin();
}

// By their bits: zeros have signs.
bool same_bits(const ArgValue& a, const ArgValue& b) {
  auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
  if (auto *x = std::get_if<double>(&a), *y = std::get_if<double>(&b); x && y) return bits(*x) == bits(*y);
  if (auto *x = std::get_if<std::vector<double>>(&a), *y = std::get_if<std::vector<double>>(&b); x && y)
    return std::ranges::equal(*x, *y, {}, bits, bits);
  return a == b;
}

// Values are compared elsewhere.
bool same_argument(const BoundArg& a, const BoundArg& b) {
  if (a.index() != b.index()) return false;
  auto* fixed_value = std::get_if<ArgValue>(&a);
  return !fixed_value || same_bits(*fixed_value, std::get<ArgValue>(b));
}

bool same_place(const Location& a, const Location& b) { return a.file == b.file && a.line == b.line; }

// The data of a value that is a few numbers in CPU memory, which come from no sample of a data set.
const Data* few_numbers(const Value& value) {
  if (value.pending() || value.failed() || value.lineage) return nullptr;
  const Data& data = value.ready();
  if (data.origins || data.device.kind != Device::Kind::cpu || data.size() > kFewBytes) return nullptr;
  int64_t bytes = 0;
  for (int i = 0; i < data.size(); i++) bytes += data.bytes(i);
  return bytes <= kFewBytes ? &data : nullptr;
}

}  // namespace

std::vector<ValuePtr> Request::values() const {
  std::vector<ValuePtr> out;
  out.reserve(inputs.size() + 2);
  out.assign(inputs.begin(), inputs.end());
  for (const BoundArg& arg : args)
    if (auto* value = std::get_if<ValuePtr>(&arg)) out.push_back(*value);
  if (keyed) out.push_back(keyed->value);
  return out;
}

std::shared_ptr<Task> make_task(const Request& request, std::vector<ValuePtr>& results) {
  const Context& context = *request.context;
  if (request.function) return request.function->call(request.inputs, request.samples, context, request.where, results);
  if (request.spec) {
    auto call = Call::make(*request.spec, request.inputs, request.args, request.samples, {context, request.device},
                           request.where, *request.draws);
    results = call->promises();
    return call;
  }
  const bool to_gpu = request.device->kind == Device::Kind::gpu;
  auto transfer = std::make_shared<Transfer>(request.inputs[0], *request.device,
                                             to_gpu ? stream_of(context, request.device->id) : nullptr, request.where);
  results = {transfer->promised()};
  return transfer;
}

std::string name_of_call(const OpSpec* spec, const PythonFunction* function, const std::optional<Device>& device) {
  if (function) return std::string(function->name());
  return spec ? shown_name(*spec) : Transfer::name(*device);
}

std::string name_of_value(const Request& request, size_t index) {
  if (request.function) return str("input ", index);
  if (!request.spec) return "what it copies";
  if (index < request.inputs.size())
    return str("input \"", request.spec->inputs[std::min(index, request.spec->inputs.size() - 1)].name, '"');
  index -= request.inputs.size();
  for (size_t i = 0; i < request.args.size(); i++)
    if (std::holds_alternative<ValuePtr>(request.args[i]) && index-- == 0)
      return str("argument \"", request.spec->args[i].name, '"');
  return "argument \"keyed_by\"";
}

Step::Step(const Request& request, uint64_t id)
    : id(id),
      spec(request.spec),
      function(request.function),
      args(without_values(request.args)),
      inputs(request.inputs.size()),
      samples(request.samples),
      sized_by(index_of(request.sized_by, request.values())),
      device(request.device),
      context(request.context),
      where(request.where),
      keyed(request.keyed),
      seed(keyed ? request.keyed->seed : 0),
      name(keyed ? request.keyed->name : "") {}

bool Step::has_form_of(const Request& request) const {
  if (spec != request.spec || !same_place(where, request.where) || context.lock() != request.context) return false;
  if ((function || request.function) && !(function && request.function && function->same(*request.function)))
    return false;
  if (inputs != request.inputs.size() || args.size() != request.args.size()) return false;
  if (device != request.device || keyed != (request.keyed != nullptr)) return false;
  if (sized_by.has_value() != (request.sized_by != nullptr) || (!sized_by && samples != request.samples)) return false;
  if (keyed && (seed != request.keyed->seed || name != request.keyed->name)) return false;
  for (size_t i = 0; i < args.size(); i++)
    if (!same_argument(args[i], request.args[i])) return false;
  return true;
}

std::string Step::difference(const Request& request) const {
  for (size_t i = 0; i < std::min(args.size(), request.args.size()); i++)
    if (!same_argument(args[i], request.args[i])) return str("argument \"", spec->args[i].name, "\" changed");
  if (samples != request.samples && !sized_by) return "the number of samples changed";
  if (function && request.function && !function->same(*request.function)) return "its keyword arguments changed";
  return has_form_of(request) ? "" : "its device, context or generator changed";
}

bool same_numbers(const Value& a, const Value& b) {
  const Data *x = few_numbers(a), *y = few_numbers(b);
  if (!x || !y || x->size() != y->size() || x->dtype != y->dtype || !(x->layout == y->layout)) return false;
  if (a.meta().is_batch != b.meta().is_batch || x->shapes.ndim() != y->shapes.ndim()) return false;
  for (int i = 0; i < x->size(); i++) {
    if (!std::ranges::equal(x->shapes.dims(i), y->shapes.dims(i))) return false;
    if (x->bytes(i) && std::memcmp(x->at(i), y->at(i), x->bytes(i)) != 0) return false;
  }
  return true;
}

ValuePtr copy_of_numbers(const Value& value) {
  const Data* data = few_numbers(value);
  if (!data) return nullptr;
  return std::make_shared<Value>(copy_of(*data), value.meta().is_batch);
}

bool may_have_changed(const Value& value) {
  return !value.pending() && !value.failed() && (exposed(value.ready()) || foreign(value.ready()));
}

}  // namespace avida
