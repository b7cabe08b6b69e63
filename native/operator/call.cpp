#include "operator/call.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <list>
#include <memory_resource>
#include <new>

#include "arguments/traits.h"
#include "gpu/streams.h"
#include "operator/chain.h"
#include "operator/frames.h"
#include "operator/gpu_call.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace avida {

// A call whose arguments are bound: ready to run.
struct Call::Bound {
  explicit Bound(Call& call, const Data* linked = nullptr);
  Bound(const Bound&) = delete;
  void split_frames();
  const Data& on_cpu(const Data& data) {
    return data.device.kind == Device::Kind::cpu ? data : split.emplace_back(to_cpu(data));
  }

  Call& call;
  std::byte buffer[2048];
  std::pmr::monotonic_buffer_resource scratch{buffer, sizeof(buffer)};
  std::pmr::vector<const Data*> in{&scratch};
  std::pmr::vector<Data> relabelled{&scratch};    // inputs with the layout that the operator assumes
  std::pmr::vector<const Data*> given{&scratch};  // arguments per sample
  std::pmr::vector<Meta> metas{&scratch};
  Origins origins;
  std::optional<Frames> frames;
  Shape first_frame;      // of the first input, if it is a sequence
  bool joins = false;     // the results are sequences again
  std::list<Data> split;  // inputs and arguments, split into frames or copied; allocates nothing while empty
  std::pmr::vector<Meta> frame_out{&scratch};
  std::vector<RandomKey> frame_keys;
  std::optional<CallArgs> args;
  std::optional<Run> run;
};

namespace {

std::string join(const std::vector<Layout>& layouts) {
  std::string out;
  for (size_t i = 0; i < layouts.size(); i++)
    out += (i == 0 ? "" : i + 1 == layouts.size() ? " or " : ", ") + std::string(layouts[i].view());
  return out;
}

// The layout an operator works with: the sample's own, or the first accepted one of the same rank.
Layout accepted_layout(const InputSpec& input, const Meta& meta) {
  if (input.layouts.empty()) return meta.layout;
  for (auto& layout : input.layouts)
    if (meta.layout.empty() ? layout.size() == meta.ndim : layout == meta.layout) return layout;
  if (meta.layout.empty())
    value_error("expected \"", input.name, "\" with layout ", join(input.layouts), ", got ", meta.ndim,
                " axes without a layout");
  value_error("expected \"", input.name, "\" with layout ", join(input.layouts), ", got ", meta.layout);
}

}  // namespace

std::string shown_name(const OpSpec& spec) {
  if (!spec.hidden) return spec.name;
  std::string last = spec.name.substr(spec.name.rfind('.') + 1);
  return last.substr(last.find_first_not_of('_'));
}

namespace {

constexpr const char* kNoNumber = "expected a number, got NaN";

void refuse_nan(const ArgSpec& arg, const ArgValue& value) {
  if (arg.flags & takes_nan) return;
  auto* number = std::get_if<double>(&value);
  auto* numbers = std::get_if<std::vector<double>>(&value);
  auto is_nan = [](double x) { return std::isnan(x); };
  if ((number && is_nan(*number)) || (numbers && std::ranges::any_of(*numbers, is_nan))) refuse(kNoNumber);
}

void refuse_nan(const ArgSpec& arg, const void* data, const Shape& shape, DType dtype) {
  if ((arg.flags & takes_nan) || (arg.type != ArgType::real && arg.type != ArgType::reals) || !is_float(dtype)) return;
  for (int64_t i = 0; i < volume(shape); i++)
    if (std::isnan(arg::element<double>(data, dtype, i))) refuse(kNoNumber);
}

// Operators that compute with elements would take enum values for numbers.
void refuse_enums(const OpSpec& spec, std::span<const Meta> metas) {
  for (const Meta& meta : metas)
    if (!spec.takes_enums && is_enum(meta.dtype))
      refuse("expected numbers, got values of the enum ", meta.dtype,
             "; cast(values, dtype=avida.int32) converts them");
}

}  // namespace

std::shared_ptr<Call> Call::make(const OpSpec& spec, std::span<const ValuePtr> inputs, std::span<const BoundArg> args,
                                 int batch_size, Place place, Location where, Draws draws) {
  auto call = std::allocate_shared<Call>(PoolAllocator<Call>(), Key{}, spec);
  call->pool_ = place.context.threads();
  call->where_ = where;
  call->draws_ = std::move(draws);
  call->samples_ = batch_size < 0 ? 1 : batch_size;
  call->is_batch_ = batch_size >= 0;
  std::string_view sized_by;
  call->take_inputs(inputs, sized_by);
  call->find_device(place);
  call->take_args(args, sized_by);
  if (call->draws_.lineage && static_cast<int>(call->draws_.keyed.size()) != call->samples_)
    value_error("batch sizes differ: \"keyed_by\" has ", call->draws_.keyed.size(), " samples, the call has ",
                call->samples_);
  call->count_outputs();
  call->infer_if_known();
  return call;
}

// A Batch takes precedence over batch_size; `sized_by` is the name of the first one.
void Call::take(const ValuePtr& value, std::string_view name, std::string_view& sized_by) {
  Meta meta = value->meta();
  if (meta.is_batch) {
    if (!sized_by.empty() && meta.samples != samples_)
      value_error("batch sizes differ: \"", sized_by, "\" has ", samples_, " samples, \"", name, "\" has ",
                  meta.samples);
    samples_ = meta.samples;
    is_batch_ = true;
    sized_by = name;
  }
  inputs.push_back(value);
}

void Call::take_inputs(std::span<const ValuePtr> given, std::string_view& sized_by) {
  const size_t declared = spec_.inputs.size();
  const bool variadic = spec_.max_inputs() < 0;
  for (size_t i = 0; i < given.size(); i++) {
    if (given[i]) {
      slots_.push_back(static_cast<int>(inputs.size()));
      take(given[i], spec_.inputs[std::min(i, declared - 1)].name, sized_by);
    } else if (!variadic) {
      slots_.push_back(-1);
    }
  }
  if (!variadic) slots_.resize(declared, -1);
}

void Call::take_args(std::span<const BoundArg> args, std::string_view& sized_by) {
  args_ = spec_.default_args;
  for (size_t i = 0; i < args.size(); i++) {
    const ArgSpec& arg = spec_.args[i];
    try {
      if (auto* fixed_value = std::get_if<ArgValue>(&args[i])) {
        refuse_nan(arg, *fixed_value);
        if (args_ == spec_.default_args) args_ = spec_.args_type.make();
        arg.set(args_.get(), *fixed_value);
      } else if (auto* value = std::get_if<ValuePtr>(&args[i])) {
        tensor_args_.push_back(static_cast<int>(i));
        take(*value, arg.name, sized_by);
      } else if (arg.flags & required) {
        type_error("is missing");
      }
    } catch (const Error& error) {
      throw Error(error.kind, str("argument \"", arg.name, "\" ", error.message));
    }
  }
}

void Call::count_outputs() {
  outputs_ = spec_.count_outputs ? spec_.count_outputs(args_.get()) : spec_.outputs;
  if (spec_.output_per_optional_input)
    for (const InputSpec& input : spec_.inputs) outputs_ += input.optional && slots_[&input - spec_.inputs.data()] >= 0;
}

void Call::infer_if_known() {
  std::byte buffer[512];
  std::pmr::monotonic_buffer_resource scratch(buffer, sizeof(buffer));
  std::pmr::vector<Meta> in(&scratch);
  bool known = true;
  for (int slot : slots_) {
    in.push_back(slot < 0 ? Meta{} : inputs[slot]->meta());
    known &= slot < 0 || in.back().known();
  }
  find_per_frame();
  if (known && per_frame_) infer(in);
}

// A call runs where its inputs are. If some are on a GPU, those on the CPU are copied there.
void Call::find_device(const Place& place) {
  std::string_view first;
  for (size_t i = 0; i < slots_.size(); i++) {
    const InputSpec& input = spec_.inputs[std::min(i, spec_.inputs.size() - 1)];
    if (slots_[i] < 0 || input.on_host) continue;
    Device device = inputs[slots_[i]]->meta().device;
    if (device.kind != Device::Kind::gpu) continue;
    if (!first.empty() && !(device == device_))
      value_error("expected inputs on one GPU: \"", first, "\" is on ", device_.id, ", \"", input.name, "\" on ",
                  device.id);
    device_ = device;
    first = input.name;
  }
  if (place.device && !first.empty() && !(*place.device == device_))
    value_error("expected inputs on the device of the argument \"device\", but \"", first, "\" is on GPU ", device_.id,
                "; copy it with to_device()");
  if (place.device) device_ = *place.device;
  if (spec_.gpu_only && first.empty()) {
    if (place.device && place.device->kind == Device::Kind::cpu)
      value_error("runs on GPUs only, got device=\"cpu\"; leave it out, or pass device=\"gpu\"");
    if (Gpu::count() == 0) refuse("runs on GPUs only, and there is no GPU: ", Gpu::missing());
    if (!place.device) device_ = {Device::Kind::gpu, static_cast<int16_t>(gpu_of(place.context))};
  }
  if (device_.kind == Device::Kind::gpu)
    stream_ = stream_of(place.context, device_.id);
  else
    results_in_ = place.context.results.value_or(ResultMemory{Gpu::that_copies(), false});
}

void Call::find_per_frame() {
  per_frame_ = false;
  if (!spec_.per_frame || slots_.empty()) return;
  // The first input, and inputs whose layouts are declared, may be sequences without making the call per frame.
  const bool variadic = spec_.max_inputs() < 0;
  const int given = static_cast<int>(inputs.size() - tensor_args_.size());
  for (int k = !variadic && slots_[0] == 0 ? 1 : 0; k < static_cast<int>(inputs.size()); k++) {
    if (k < given && !variadic && !spec_.inputs[std::ranges::find(slots_, k) - slots_.begin()].layouts.empty())
      continue;
    Meta meta = inputs[k]->meta();
    if (!meta.known()) per_frame_.reset();
    if (is_sequence(meta.layout)) {
      per_frame_ = true;
      return;
    }
  }
}

// The results are sequences, unless the first input is an image and the arguments have a single frame.
bool Call::joins_frames(std::span<const Meta> in) const {
  return in.empty() || slots_[0] < 0 || spec_.inputs[0].layouts.empty() || is_sequence(in[0].layout);
}

void Call::infer(std::span<const Meta> in) {
  std::byte buffer[512];
  std::pmr::monotonic_buffer_resource scratch(buffer, sizeof(buffer));
  std::pmr::vector<Meta> seen(in.begin(), in.end(), &scratch);
  for (size_t i = 0; i < seen.size(); i++)
    if (slots_[i] >= 0) seen[i].layout = accepted_layout(spec_.inputs[std::min(i, spec_.inputs.size() - 1)], seen[i]);
  const bool joins = *per_frame_ && joins_frames(seen);
  for (Meta& meta : seen)
    if (*per_frame_ && is_sequence(meta.layout)) meta.layout = without_frames(meta.layout), meta.ndim--;
  Meta first = seen.empty() ? Meta{} : seen[0];
  first.is_batch = is_batch_;
  first.samples = samples_;
  first.device = device_;
  std::pmr::vector<Meta> out(outputs_, first, &memory);
  Inference inference{seen, args_.get(), out, [this](std::string_view name) {
                        for (int i : tensor_args_)
                          if (spec_.args[i].name == name) return true;
                        return false;
                      }};
  refuse_enums(spec_, seen);
  spec_.infer(inference);
  refuse_enums(spec_, out);
  for (Meta& meta : out)
    if (joins && meta.known()) meta.layout = with_frames(meta.layout, meta.ndim), meta.ndim++;
  out_ = std::move(out);
}

std::vector<ValuePtr> Call::promises() {
  std::vector<ValuePtr> values;
  Meta unknown = Meta::unknown(is_batch_, samples_);
  unknown.device = device_;
  LineagePtr lineage = inherit({inputs.data(), inputs.size() - tensor_args_.size()}, samples_);
  if (!lineage) lineage = draws_.lineage;
  if (lineage && spec_.permutes) {
    auto permuted = std::make_shared<Lineage>(*lineage);
    permuted->permuted = true;
    lineage = std::move(permuted);
  }
  for (int i = 0; i < outputs_; i++) {
    values.push_back(promise(out_.empty() ? unknown : out_[i]));
    values.back()->lineage = lineage;
  }
  return values;
}

// `linked` replaces the first input if that is still pending: in a chain, the output of the previous call.
Call::Bound::Bound(Call& call, const Data* linked) : call(call) {
  auto& slots = call.slots_;
  int samples = call.samples_;
  relabelled.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); i++) {
    if (slots[i] < 0) {
      in.push_back(nullptr);
      metas.emplace_back();
      continue;
    }
    Value& value = *call.inputs[slots[i]];
    bool links = linked && slots[i] == 0;
    const Data* data = links ? linked : &value.ready();
    Meta meta = value.meta();
    if (links) meta = {meta.is_batch, data->size(), data->dtype, data->shapes.ndim(), data->layout, data->device};
    Layout layout = accepted_layout(call.spec_.inputs[std::min(i, call.spec_.inputs.size() - 1)], meta);
    if (!(layout == data->layout)) {
      relabelled.push_back(*data);
      relabelled.back().layout = layout;
      data = &relabelled.back();
    }
    if (!call.stream_) data = &on_cpu(*data);  // an argument that the CPU reads may be on a GPU
    if (data->size() != samples && data->size() != 1) value_error("expected ", samples, " samples, got ", data->size());
    if (!origins && data->origins && data->size() == samples) origins = data->origins;
    in.push_back(data);
    metas.push_back(meta);
  }
  if (!origins && call.draws_.lineage) origins = call.draws_.lineage->origins;
  for (size_t k = call.inputs.size() - call.tensor_args_.size(); k < call.inputs.size(); k++)
    given.push_back(&on_cpu(call.inputs[k]->ready()));
  if (!call.per_frame_) call.find_per_frame();
  if (call.out_.empty()) call.infer(metas);
  std::span<const Meta> out = call.out_;
  std::span<const RandomKey> keys = call.draws_.keyed;
  std::span<const FramePlace> places;
  if (*call.per_frame_) {
    split_frames();
    samples = frames->size();
    out = frame_out;
    keys = frame_keys;
    places = frames->places();
  }

  std::shared_ptr<void> list = call.args_;
  size_t stride = 0;
  if (!given.empty()) {
    stride = call.spec_.args_type.size;
    list = call.spec_.args_type.copies(call.args_.get(), samples);
    for (size_t k = 0; k < given.size(); k++) {
      const ArgSpec& arg = call.spec_.args[call.tensor_args_[k]];
      const Data& data = *given[k];
      for (int i = 0; i < samples; i++) {
        int at = data.size() == 1 ? 0 : i;
        try {
          const DType dtype = stored_as(data.dtype);
          refuse_nan(arg, data.at(at), data.shapes[at], dtype);
          arg.set_from_sample(static_cast<char*>(list.get()) + stride * i, data.at(at), data.shapes[at], dtype);
        } catch (const Error& error) {
          int sample = frames ? places[i].sample : i;
          throw Error(error.kind, str(call.is_batch_ ? str("sample ", sample, ": ") : "", "argument \"", arg.name,
                                      "\": ", error.message));
        }
      }
    }
  }
  args.emplace(list, stride);
  run.emplace(Run{in, samples, call.is_batch_, *args, out, *call.pool_, call.draws_.random, keys, places});
  run->results_in = call.results_in_;
}

void Call::Bound::split_frames() {
  std::pmr::vector<Frames::Sequences> sequences(&scratch);
  for (size_t i = 0; i < in.size(); i++)
    if (in[i] && is_sequence(in[i]->layout))
      sequences.push_back({in[i], call.spec_.inputs[std::min(i, call.spec_.inputs.size() - 1)].name});
  const bool first_decides = !sequences.empty() && sequences[0].data == in[0];
  for (size_t k = 0; k < given.size(); k++)
    if (is_sequence(given[k]->layout)) sequences.push_back({given[k], call.spec_.args[call.tensor_args_[k]].name});
  frames.emplace(sequences, first_decides, call.samples_, call.is_batch_);
  if (first_decides && call.samples_ > 0) first_frame = Shape(in[0]->shapes.dims(0).subspan(1));
  joins = call.joins_frames(metas);
  if (!joins && !frames->single())
    value_error("expected sequences to go with values for each frame, got ", in[0]->layout);
  for (auto* list : {&in, &given})
    for (const Data*& data : *list)
      if (data) data = &split.emplace_back(frames->split(*data));
  for (Meta meta : call.out_) {
    if (joins && meta.known()) meta.layout = without_frames(meta.layout), meta.ndim--;
    frame_out.push_back(meta);
  }
  for (auto [sample, frame] : frames->places()) {
    RandomKey key = call.draws_.keyed.empty()
                        ? RandomKey{call.draws_.random.seed, call.draws_.random.position, static_cast<unsigned>(sample)}
                        : call.draws_.keyed[sample];
    frame_keys.push_back(key_of_frame(key, frame));
  }
}

std::vector<Data> Call::run() {
  const TimedOnGpu timed(device_, stream_ ? stream_->handle : nullptr);
  Bound bound(*this);
  std::vector<Data> results = stream_ ? run_on_gpu(spec_, *bound.run, *stream_) : spec_.run(*bound.run);
  if (bound.frames)
    for (auto& result : results) {
      if (bound.joins && stream_ && !bound.frames->in_order(result))
        result = to_gpu(bound.frames->join(to_cpu(result), bound.first_frame, results_in_), *stream_);
      else if (bound.joins)
        result = bound.frames->join(result, bound.first_frame, results_in_);
      result.origins = bound.origins;
    }
  for (auto& result : results)
    if (!result.origins && result.size() == samples_) result.origins = bound.origins;
  return results;
}

// Views share the memory, and what leads a chain is small beside the work that the chain saves.
int64_t Call::copies_up_to() const {
  if (spec_.view) return 0;
  return chain() == Chain::leads ? INT64_MAX : Task::copies_up_to();
}

Task::Chain Call::chain() const {
  if (!spec_.loop || !is_batch_ || outputs_ != 1 || slots_.empty() || slots_[0] != 0) return Chain::no;
  if (per_frame_ != false || stream_) return Chain::no;
  if (spec_.leads && spec_.leads(args_.get())) return Chain::leads;
  return spec_.chains ? Chain::joins : Chain::no;
}

std::vector<Data> Call::run_chain(std::span<Task* const> tasks, std::span<const bool> kept) {
  if (samples_ < pool_->threads()) return {};  // with few samples, parallelism over rows is better
  std::deque<Bound> bounds;
  avida::Chain chain;
  for (size_t k = 0; k < tasks.size(); k++) {
    profile::Work::turn_to(k);
    auto& call = static_cast<Call&>(*tasks[k]);
    auto& bound = bounds.emplace_back(call, k ? &chain.output() : nullptr);
    chain.add(*bound.run, *call.spec_.loop, bound.origins, kept[k]);
  }
  return chain.run(*pool_);
}

profile::Label Call::label() const { return {profile::intern(shown_name(spec_)), where_, samples_, device_}; }

Failure Call::describe_failure(std::exception_ptr error) const {
  Failure failure = describe(error);
  failure.message = shown_name(spec_) + ": " + failure.message;
  if (where_.file) failure.note = str("called at ", where_.file, ":", where_.line);
  return failure;
}

}  // namespace avida
