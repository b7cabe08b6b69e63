// The specification of an operator: its declaration (read by the Python generator) and how to run it.
#pragma once
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments/arg_spec.h"
#include "core/data.h"
#include "device/philox.h"
#include "runtime/memory.h"

namespace avida {

class ThreadPool;
class Gpu;
class Launches;
struct GpuStream;
struct FramePlace;
struct SampleLoop;

// What a list stands for as an input, besides what it does everywhere: of files, the bytes of one in each item, also
// where they are equally long; of paths, the name of a file in each.
enum class InputKind { data, files, paths };
AVIDA_CHOICES(InputKind, "data", "files", "paths")

struct InputSpec {
  std::string name, doc;
  std::vector<Layout> layouts;  // accepted layouts; empty if any
  bool optional = false, variadic = false;
  bool on_host = false;  // read by the CPU, also in calls on a GPU
};

// How to create, copy and destroy the arguments struct of an operator.
struct ArgsType {
  std::shared_ptr<void> (*make)();
  std::shared_ptr<void> (*copies)(const void* prototype, int n);
  size_t size;
};

// The arguments of one call: a struct per sample, or one for all.
class CallArgs {
 public:
  CallArgs(std::shared_ptr<void> first, size_t stride) : first_(std::move(first)), stride_(stride) {}
  const void* at(int i) const { return static_cast<const char*>(first_.get()) + stride_ * i; }

 private:
  std::shared_ptr<void> first_;
  size_t stride_;
};

// The data of one call for the operator that runs it.
struct Run {
  std::span<const Data* const> in;  // optional inputs that were not given are null
  int samples;
  bool is_batch;
  const CallArgs& args;
  std::span<const Meta> out;  // from infer()
  ThreadPool& pool;
  RandomKey random;  // for random operators; each sample i has its own stream, see random_key(i)
  std::span<const RandomKey>
      keyed;  // the streams of the samples, if they do not depend on the sample's index in the batch
  std::span<const FramePlace> frames;  // if the samples are frames of sequences; see Frames
  Launches* launches = nullptr;        // records the work of a call on a GPU; null on the CPU
  ResultMemory results_in{};           // on the CPU

  RandomKey random_key(int i) const {
    return keyed.empty() ? RandomKey{random.seed, random.position, static_cast<unsigned>(i)} : keyed[i];
  }

  // A Tensor among Batches is broadcast to every sample.
  int index_in(int input, int sample) const { return in[input]->size() == 1 ? 0 : sample; }
};

// The input of infer(): the inputs' metadata and the fixed arguments.
struct Inference {
  std::span<const Meta> in;  // dtype none for an optional input that was not given
  const void* args;
  std::pmr::vector<Meta>& out;  // preset to one copy of the first input's
  // Whether an argument has a value per sample; its value in `args` is the default.
  std::function<bool(std::string_view)> per_sample;
};

struct OpSpec {
  OpSpec();
  OpSpec(OpSpec&&) noexcept;
  ~OpSpec();  // not inline: every file of an operator would have it

  std::string name;  // with its module: "reductions.max"
  std::string doc, example;
  std::string raises;  // an error of the user's data, for the documentation
  std::vector<InputSpec> inputs;
  InputKind input_kind = InputKind::data;
  std::vector<ArgSpec> args;
  ArgsType args_type;
  std::shared_ptr<void> default_args;
  int outputs = 1;
  std::function<int(const void* args)> count_outputs;  // instead, if the fixed arguments determine the number
  bool output_per_optional_input = false;              // one more output for each optional input that is given
  bool random = false;                                 // takes the keyword rng; see RandomKey
  bool keyed = false;                                  // takes the keyword keyed_by; see Call::Draws
  bool draws_numbers = false;                          // see Op
  bool passes_numbers = false;                         // see Op
  bool per_frame = false;                              // arguments may have a value per frame of a sequence
  bool permutes = false;      // sample i of the output is not computed from sample i of the input
  bool view = false;          // the result shares the memory of the first input
  bool takes_enums = false;   // see Op
  bool writes_files = false;  // so that calls run even if nobody reads their results
  bool reads_files = false;   // which may be others in the next call
  bool hidden = false;        // reached through Python operators only
  bool plain = false;         // without batch_size and device; inputs may be given by name
  std::function<void(Inference&)> infer;
  std::function<std::vector<Data>(const Run&)> run;
  std::shared_ptr<const SampleLoop> loop;  // the loop of `run`, if it is a loop over samples
  bool on_gpu = false;                     // see Op::on_gpu
  bool gpu_only = false;                   // see Op::gpu_only
  // Optional GPU implementation; returns nullopt to fall back to the loop family.
  std::function<std::optional<std::vector<Data>>(const Run&, const GpuStream&)> gpu_run;
  bool chains = false;                          // see Op::chains
  std::function<bool(const void* args)> leads;  // see Op::leads_chains

  int min_inputs() const;
  int max_inputs() const;  // -1: any number
};

const OpSpec& op_at(int id);
int op_count();
int find_op(std::string_view name);  // -1 if there is none
int register_op(OpSpec&& spec);

}  // namespace avida
