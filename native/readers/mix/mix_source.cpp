#include "readers/mix/mix_source.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/error.h"
#include "runtime/lineage.h"

namespace avida {
namespace {

std::vector<int64_t> sizes_of(const std::vector<MixSource::Part>& parts) {
  if (parts.empty()) value_error("expected at least one reader, got none");
  std::vector<int64_t> sizes;
  for (const MixSource::Part& part : parts) {
    sizes.push_back(part.schedule.samples);
    if (sizes.back() < 1) refuse("expected at least one sample in each part, got none in ", part.name);
  }
  return sizes;
}

std::string text_of(const std::vector<Meta>& outputs) {
  std::string text;
  for (const Meta& meta : outputs) {
    text += str(text.empty() ? "" : ", ", meta.dtype, " with ", meta.ndim, meta.ndim == 1 ? " axis" : " axes");
    if (!meta.layout.empty()) text += str(" ", meta.layout);
    if (meta.device.kind == Device::Kind::gpu) text += " on a GPU";
  }
  return text;
}

bool agree(const Meta& a, const Meta& b) {
  return a.dtype == b.dtype && a.ndim == b.ndim && a.device == b.device &&
         (a.layout.empty() || b.layout.empty() || a.layout == b.layout);
}

[[noreturn]] void refuse_outputs(const MixPart& a, const std::vector<Meta>& of_a, const MixPart& b,
                                 const std::vector<Meta>& of_b) {
  value_error("expected parts that give the same outputs; the part \"", a.name, "\" gives ", text_of(of_a),
              ", the part \"", b.name, "\" gives ", text_of(of_b));
}

Origins in_part(const Origins& origins, int samples, const std::shared_ptr<const MixPart>& part) {
  std::vector<Origin> changed = origins ? *origins : std::vector<Origin>(static_cast<size_t>(samples));
  for (Origin& origin : changed) origin.part = part;
  return std::make_shared<const std::vector<Origin>>(std::move(changed));
}

}  // namespace

// Samples of a batch that are read together: those of a part that makes batches, or all that are opened.
struct MixSource::Group {
  const Leaf* leaf = nullptr;    // null: they are opened
  std::vector<size_t> places{};  // in the batch
  std::vector<SampleId> ids{};
  std::vector<ValuePtr> values{};

  void keep(const std::function<bool(const SampleId&)>& is_there) {
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); i++) {
      if (!is_there(ids[i])) continue;
      ids[kept] = ids[i];
      places[kept++] = places[i];
    }
    ids.resize(kept);
    places.resize(kept);
  }
};

MixSource::MixSource(std::vector<Part> parts, const std::optional<std::vector<double>>& weights, MixOrder::Stop stop,
                     int64_t slots, uint64_t seed)
    : parts_(std::move(parts)), order_(sizes_of(parts_), weights, stop, slots, seed) {
  for (size_t i = 0; i < parts_.size(); i++)
    add_leaves(parts_[i], static_cast<double>(order_.count(i, size())) / static_cast<double>(size()));
}

void MixSource::add_leaves(const Part& part, double share) {
  const int64_t first = leaves_.empty() ? 0 : leaves_.back().end;
  firsts_.push_back(first);
  const auto add = [&](Leaf leaf, const std::string& name) {
    leaf.part = std::make_shared<const MixPart>(name, leaves_.size());
    agree_with(leaf);
    leaves_.push_back(std::move(leaf));
  };
  const auto* mixture = dynamic_cast<const MixSource*>(part.source.get());
  if (!mixture) {
    const bool in_blocks = part.schedule.shuffle != Shuffle::none;
    add({part.source, first, first + part.schedule.samples, {}, in_blocks ? part.schedule.blocks : nullptr, share},
        part.name);
    return;
  }
  for (const Leaf& leaf : mixture->leaves_)
    add({leaf.source, first + leaf.first, first + leaf.end, {}, leaf.blocks, share * leaf.share},
        str(part.name, '/', leaf.part->name));
}

// The outputs of sources of Python objects are known with their first sample.
void MixSource::agree_with(const Leaf& leaf) {
  const std::vector<Meta>& outputs = leaf.source->outputs();
  const auto known = [](const std::vector<Meta>& metas) { return std::ranges::all_of(metas, &Meta::known); };
  if (outputs_.empty() || (!known(outputs_) && known(outputs))) {
    outputs_ = outputs;
    if (known(outputs)) known_by_ = leaf.part;
    return;
  }
  if (!known(outputs)) return;
  if (!std::ranges::equal(outputs, outputs_, avida::agree)) refuse_outputs(*known_by_, outputs_, *leaf.part, outputs);
  for (size_t k = 0; k < outputs.size(); k++)
    if (outputs_[k].layout.empty()) outputs_[k].layout = outputs[k].layout;
}

const MixSource::Leaf& MixSource::leaf_of(int64_t index) const {
  return *std::prev(std::ranges::upper_bound(leaves_, index, {}, &Leaf::first));
}

// Consecutive draws of a part are asked of its schedule together.
std::vector<SampleId> MixSource::samples_in(std::vector<SampleId> slots) const {
  std::vector<std::vector<size_t>> places(parts_.size());
  const std::vector<MixOrder::Draw> draws = order_.draws(slots);
  for (size_t i = 0; i < draws.size(); i++) places[draws[i].part].push_back(i);
  for (size_t p = 0; p < parts_.size(); p++) {
    const Schedule& schedule = parts_[p].schedule;
    std::vector<SampleId> ids;
    for (size_t i = 0; i < places[p].size();) {
      const MixOrder::Draw& first = draws[places[p][i]];
      size_t count = 1;
      while (i + count < places[p].size() && schedule.samples - first.position > static_cast<int64_t>(count) &&
             draws[places[p][i + count]].pass == first.pass &&
             draws[places[p][i + count]].position == first.position + static_cast<int64_t>(count))
        count++;
      const Cursor at{.pass = first.pass, .position = first.position};
      std::ranges::copy(schedule.batch(at, static_cast<int64_t>(count)), std::back_inserter(ids));
      i += count;
    }
    ids = parts_[p].source->samples_in(std::move(ids));
    for (size_t i = 0; i < ids.size(); i++) slots[places[p][i]] = {firsts_[p] + ids[i].index, ids[i].pass};
  }
  return slots;
}

Data MixSource::allocate(const Meta& meta, const ShapeList& shapes) const {
  return std::ranges::find_if(leaves_, [](const Leaf& leaf) { return !leaf.source->makes_batches(); })
      ->source->allocate(meta, shapes);
}

bool MixSource::takes_long() const {
  return std::ranges::any_of(leaves_, [](const Leaf& leaf) { return leaf.source->takes_long(); });
}

bool MixSource::is_local() const {
  return std::ranges::all_of(leaves_, [](const Leaf& leaf) { return leaf.source->is_local(); });
}

bool MixSource::makes_batches() const {
  return std::ranges::any_of(leaves_, [](const Leaf& leaf) { return leaf.source->makes_batches(); });
}

const Source& MixSource::most_particular() const {
  return *std::ranges::min_element(leaves_, {}, [](const Leaf& leaf) {
            return std::pair(leaf.source->most_threads(), !leaf.source->makes_batches());
          })->source;
}

int MixSource::most_threads() const { return most_particular().most_threads(); }

void MixSource::start_thread(std::function<void()> work) const { most_particular().start_thread(std::move(work)); }

std::vector<std::vector<size_t>> MixSource::arrange(std::span<Sample* const> samples,
                                                    std::span<const SampleId> ids) const {
  struct OfLeaf {
    std::vector<size_t> places;
    std::vector<Sample*> samples;
    std::vector<SampleId> ids;
  };
  std::map<const Leaf*, OfLeaf> by_leaf;
  for (size_t i = 0; i < samples.size(); i++) {
    const Leaf& leaf = leaf_of(ids[i].index);
    OfLeaf& own = by_leaf[&leaf];
    own.places.push_back(i);
    own.samples.push_back(samples[i]);
    own.ids.push_back({ids[i].index - leaf.first, ids[i].pass});
  }
  std::vector<std::vector<size_t>> lists;
  for (auto& [leaf, own] : by_leaf)
    for (std::vector<size_t>& list : leaf->source->arrange(own.samples, own.ids)) {
      for (size_t& i : list) i = own.places[i];
      lists.push_back(std::move(list));
    }
  return lists;
}

void MixSource::name_needs(int64_t index, storage::Needs& needs) const {
  const Leaf& leaf = leaf_of(index);
  leaf.source->name_needs(index - leaf.first, needs);
}

std::unique_ptr<Source::Sample> MixSource::open(int64_t index, const storage::Fetched& fetched) const {
  const Leaf& leaf = leaf_of(index);
  return leaf.source->open(index - leaf.first, fetched);
}

std::string MixSource::describe(int64_t index) const {
  const Leaf& leaf = leaf_of(index);
  return leaf.source->describe(index - leaf.first);
}

Origin MixSource::origin(const SampleId& id) const {
  const Leaf& leaf = leaf_of(id.index);
  Origin origin = leaf.source->origin({id.index - leaf.first, id.pass});
  origin.part = leaf.part;
  return origin;
}

const storage::CachePtr& MixSource::cache_of(int64_t index) const { return leaf_of(index).source->cache; }

std::vector<Source::PartInBlocks> MixSource::parts_in_blocks() const {
  std::vector<PartInBlocks> parts;
  for (const Leaf& leaf : leaves_)
    if (leaf.blocks) parts.push_back({leaf.source, leaf.blocks, leaf.first, leaf.share});
  return parts;
}

std::optional<std::vector<ValuePtr>> MixSource::read_batch(const Request& request) const {
  std::vector<Group> groups = groups_of(request.ids);
  if (groups.size() == 1 && !groups[0].leaf) return {};
  for (Group& group : groups) read(group, request);
  std::erase_if(groups, [](const Group& group) { return group.ids.empty(); });
  return joined(groups, request);
}

std::vector<MixSource::Group> MixSource::groups_of(std::span<const SampleId> ids) const {
  std::vector<Group> groups;
  for (size_t i = 0; i < ids.size(); i++) {
    const Leaf& leaf = leaf_of(ids[i].index);
    const Leaf* key = leaf.source->makes_batches() ? &leaf : nullptr;
    auto group = std::ranges::find(groups, key, &Group::leaf);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{key});
    group->places.push_back(i);
    group->ids.push_back(ids[i]);
  }
  return groups;
}

void MixSource::read(Group& group, const Request& request) const {
  if (!group.leaf) {
    auto [values, kept] = request.open_and_read(group.ids);
    group.values = std::move(values);
    auto next = kept.begin();  // they are in the same order
    group.keep([&, &there = kept](const SampleId& id) {
      return next != there.end() && next->index == id.index && next->pass == id.pass && (next++, true);
    });
    return;
  }
  const Leaf& leaf = *group.leaf;
  std::vector<SampleId> own;
  for (const SampleId& id : group.ids) own.push_back({id.index - leaf.first, id.pass});
  std::vector<Skipped> skipped;
  group.values = *leaf.source->read_batch(
      {own, request.batches, request.stop, request.skipped ? &skipped : nullptr, request.prefetching});
  group.keep([&](const SampleId& id) {
    return std::ranges::none_of(skipped, [&](const Skipped& sample) {
      return sample.origin.index == id.index - leaf.first && sample.origin.epoch == id.pass;
    });
  });
  for (Skipped& sample : skipped) {
    sample.origin.part = leaf.part;
    request.skipped->push_back(std::move(sample));
  }
}

// The samples of groups in the order of the batch, where they lie.
std::vector<ValuePtr> MixSource::joined(const std::vector<Group>& groups, const Request& request) const {
  if (groups.empty()) return {};
  if (groups.size() == 1 && !groups[0].leaf) return groups[0].values;
  const auto stop = [&] {
    if (request.stop && *request.stop) throw Stopped();
  };
  std::vector<std::vector<Data>> found;  // of each group
  for (const Group& group : groups) {
    found.emplace_back();
    for (const ValuePtr& value : group.values) found.back().push_back(value->get(stop));
    check_outputs(groups[0], found[0], group, found.back());
  }
  std::vector<ValuePtr> values;
  for (size_t k = 0; k < found[0].size(); k++) values.push_back(joined_output(groups, found, k, request.batches));
  return values;
}

void MixSource::check_outputs(const Group& a, const std::vector<Data>& of_a, const Group& b,
                              const std::vector<Data>& of_b) const {
  const auto metas = [](const std::vector<Data>& outputs) {
    std::vector<Meta> all;
    for (const Data& data : outputs)
      all.push_back({.dtype = data.dtype, .ndim = data.shapes.ndim(), .layout = data.layout, .device = data.device});
    return all;
  };
  const auto part = [&](const Group& group) { return *leaf_of(group.ids[0].index).part; };
  if (!std::ranges::equal(metas(of_a), metas(of_b), avida::agree))
    refuse_outputs(part(a), metas(of_a), part(b), metas(of_b));
  for (const Data& data : of_b)
    if (&a != &b && data.device.kind == Device::Kind::gpu)
      refuse("samples of the part \"", part(b).name,
             "\" lie on a GPU, where they cannot be joined with others: read them on the CPU, and give device to Mix");
}

ValuePtr MixSource::joined_output(const std::vector<Group>& groups, const std::vector<std::vector<Data>>& found,
                                  size_t output, bool is_batch) const {
  struct Place {
    size_t batch;  // place in the whole batch
    size_t group;
    int sample;
  };
  std::vector<Place> places;
  for (size_t g = 0; g < groups.size(); g++)
    for (size_t i = 0; i < groups[g].places.size(); i++)
      places.push_back({groups[g].places[i], g, static_cast<int>(i)});
  std::ranges::sort(places, {}, &Place::batch);

  std::vector<Data> parts;
  std::vector<LineagePtr> lineages;
  for (size_t g = 0; g < groups.size(); g++) {
    parts.push_back(found[g][output]);
    lineages.push_back(in_order(groups[g].values[output]->lineage, parts[g].origins));
    if (groups[g].leaf) parts[g].origins = in_part(parts[g].origins, parts[g].size(), groups[g].leaf->part);
  }
  Data all = parts[0];
  std::vector<Origin> origins;
  auto lineage = std::make_shared<Lineage>();
  std::vector<void*> samples;
  std::vector<Block> owners;
  ShapeList shapes(static_cast<int>(places.size()), all.shapes.ndim());
  for (const auto& [batch, g, i] : places) {
    const Data& data = parts[g];
    shapes.set(static_cast<int>(samples.size()), data.shapes[i]);
    samples.push_back(data.at(i));
    owners.push_back(data.owner(i));
    origins.push_back((*data.origins)[static_cast<size_t>(i)]);
    lineage->draws.push_back(lineages[g] ? lineages[g]->draws[static_cast<size_t>(i)] : nullptr);
    if (all.layout.empty()) all.layout = data.layout;
    all.read_only |= data.read_only;
  }
  all.origins = lineage->origins = std::make_shared<const std::vector<Origin>>(std::move(origins));
  if (groups.size() > 1) {
    all.shapes = std::move(shapes);
    all.place(std::move(owners), std::move(samples));
  }
  auto value = std::make_shared<Value>(std::move(all), is_batch);
  value->lineage = std::move(lineage);
  return value;
}

}  // namespace avida
