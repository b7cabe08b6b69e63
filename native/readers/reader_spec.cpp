#include "readers/reader_spec.h"

#include "core/made_once.h"
#include "readers/declare.h"

namespace avida {
namespace {

std::vector<std::function<ReaderSpec()>>& declarations() {
  static constinit MadeOnce<std::vector<std::function<ReaderSpec()>>> list;
  return list.get();
}

// Python's Reader sees to these arguments; sources know two of them.
void declare_common(ReaderDeclaration<ReaderArgs>& reader) {
  const unsigned positional = ReaderArg::positional, last = ReaderArg::last;
  reader
      .python("max_batch_size", "int | None",
              "The largest ``batch_size`` that may be requested. Default for ``batch_size``.", positional)
      .python("name", "str | None", "A name of your choice.", positional)
      .python("device", "DeviceArg | None = \"cpu\"",
              "Where the outputs are. Decoders take files on the CPU. Default: ``\"cpu\"``.", positional)
      .python("num_inputs", "int | None", {}, positional | ReaderArg::ignored)
      .python("num_shards", "int | None", "The number of parts into which the samples are divided. Default: ``1``.")
      .python("shard_id", "int | None", "The index of the part to read. Default: ``0``.")
      .python("random_shuffle", "bool | None",
              "Assign the samples to the shards at random (in the same way in all shards) and shuffle the whole shard "
              "in each epoch. Default: ``False``.")
      .python("seed", "int | None", "The seed of ``random_shuffle``. Default: a fixed one.")
      .python("shuffle_after_epoch", "bool | None",
              "Shuffle all samples in each epoch, before they are divided; each reader stays with its shard. Default: "
              "``False``.")
      .python("shuffle_after_epoch_seed", "int | None",
              "The seed of ``shuffle_after_epoch``; the same in all shards. Default: a fixed one.")
      .python("stick_to_shard", "bool | None",
              "Read the same shard in every epoch, instead of the next one each time. Default: ``False``.")
      .python("last_batch", "Literal[\"wrap\", \"pad\", \"partial\", \"drop\"] | None",
              "What happens to the last batch of an epoch when it is not full: \"wrap\" fills it with the first "
              "samples of the next epoch, which then begins after them; \"pad\" is ``pad_last_batch``; \"partial\" "
              "keeps it small, so that every sample is read exactly once; \"drop\" drops it. Default: ``\"wrap\"``.",
              last)
      .python("shards", "World | Literal[\"auto\"] | None",
              "In place of ``num_shards`` and ``shard_id``: what ``avida.distributed.world()`` returns, or \"auto\", "
              "which also notices when that changes.",
              last)
      .python("pad_last_batch", "bool | None",
              "Fill the last batch with copies of its last sample, so that all shards have equally many samples. Every "
              "epoch then begins with the first sample of its shard. Default: ``False``.")
      .python("on_error", "Literal[\"raise\", \"skip\"] = \"raise\"",
              "What happens to a sample that cannot be read: \"raise\" makes its batch fail when it is used; \"skip\" "
              "leaves the sample out and records it in ``reader.errors``, a list of the newest 1,000. Its batch is "
              "smaller, and left out when it is empty. Default: ``\"raise\"``.",
              last)
      .python("prefetch_queue_depth", "int | None",
              "The number of batches to prefetch, several at the same time where storage is slow; at most 65,536. "
              "Default: ``2``.")
      .arg("cache", &ReaderArgs::cache,
           "Keeps what is read from other machines: an ``avida.storage.Cache``, or \"memory\" for "
           "``Cache(memory=\"4GB\")``. Default: nothing is kept.",
           last)
      .typed("Cache | Literal[\"memory\"] | None")
      .arg("read_ahead", &ReaderArgs::read_ahead,
           "Request all data of a batch from the system before reading the first sample.")
      .python("lazy_init", "bool | None",
              "Open the data when the first sample is needed, instead of at once. Default: ``False``.")
      .ignored("dont_use_mmap", "bool | None")
      .python("enable_checkpointing", "bool = False", {}, last | ReaderArg::ignored)
      .ignored("initial_fill", "int | None")
      .ignored("skip_cached_images", "bool | None")
      .ignored("tensor_init_bytes", "int | None");
}

}  // namespace

int register_reader(std::function<ReaderSpec()> declaration) {
  declarations().push_back(std::move(declaration));
  return static_cast<int>(declarations().size()) - 1;
}

const std::vector<ReaderSpec>& all_readers() {
  static constinit MadeOnce<const std::vector<ReaderSpec>> specs;
  return specs.get([] {
    auto list = std::make_unique<std::vector<ReaderSpec>>();
    for (auto& declaration : declarations()) list->push_back(declaration());
    return list;
  });
}

const std::vector<ReaderArg>& common_reader_args() {
  static constinit MadeOnce<const std::vector<ReaderArg>> args;
  return args.get([] {
    ReaderDeclaration<ReaderArgs> common("");
    declare_common(common);
    return std::make_unique<const std::vector<ReaderArg>>(std::move(common.spec.args));
  });
}

}  // namespace avida
