#include "readers/mds/mds_index.h"

#include <simdjson.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "storage/fetched.h"
#include "storage/names.h"

namespace avida {
namespace {

using simdjson::dom::element;

constexpr std::string_view kIndex = "index.json";
constexpr int64_t kMostBytes = int64_t{1} << 32;  // of a shard, whose offsets have 32 bits

template <class T>
T value_of(const element& object, const char* key, const char* expected) {
  T value;
  if (object[key].get(value)) refuse("expected ", expected, " in \"", key, '"');
  return value;
}

int64_t count_of(const element& object, const char* key, int64_t most) {
  const auto number = value_of<int64_t>(object, key, "a number");
  if (number < 0 || number > most) refuse("expected a number from 0 to ", most, " in \"", key, "\", found ", number);
  return number;
}

// A name within the folder of the index.
std::string file_name(const element& file) {
  const std::string name(value_of<std::string_view>(file, "basename", "the name of a file"));
  const bool leads_out = storage::is_complete(name) || str('/', name, '/').find("/../") != std::string::npos;
  if (name.empty() || leads_out || name.find('\0') != std::string::npos)
    refuse("expected the name of a file within the folder of the index in \"basename\", found \"", name, '"');
  return name;
}

MdsShard::Compression compression_of(const element& shard) {
  element given;
  if (shard["compression"].get(given) || given.is_null()) return MdsShard::Compression::none;
  std::string_view text;
  if (given.get(text)) refuse("expected a text or null in \"compression\"");
  const std::string_view name = text.substr(0, text.find(':'));  // a level may follow
  if (name == "zstd") return MdsShard::Compression::zstd;
  if (name == "gz") return MdsShard::Compression::gzip;
  refuse("expected the compression zstd, gz or none, found ", text, ": write the shards again with one of them");
}

class IndexReader {
 public:
  IndexReader(std::vector<MdsShard>& shards, std::string folder) : shards_(shards), folder_(std::move(folder)) {}

  void read(const std::string& text) {
    simdjson::dom::parser parser;
    element index;
    if (auto error = parser.parse(text).get(index)) refuse("expected JSON, ", simdjson::error_message(error));
    if (const auto version = value_of<int64_t>(index, "version", "a number"); version != 2)
      refuse("expected an index of version 2, found ", version);
    int64_t number = 0;
    for (const element& shard : value_of<simdjson::dom::array>(index, "shards", "a list")) {
      try {
        add(shard);
      } catch (const Error& error) {
        fail(error.kind, "shard ", number, ": ", error.message);
      }
      number++;
    }
  }

 private:
  void add(const element& given) {
    if (auto format = value_of<std::string_view>(given, "format", "a text"); format != "mds")
      refuse("expected a shard of the format mds, found ", format);
    MdsShard shard;
    shard.compression = compression_of(given);
    const auto raw = value_of<element>(given, "raw_data", "an object");
    shard.bytes = count_of(raw, "bytes", kMostBytes);
    const bool is_packed = shard.compression != MdsShard::Compression::none;
    const auto file = is_packed ? value_of<element>(given, "zip_data", "an object") : raw;
    shard.name = storage::name_in(folder_, file_name(file));
    shard.file_bytes = count_of(file, "bytes", kMostBytes);
    shard.samples = count_of(given, "samples", kMostBytes / 4);
    if (4 * (shard.samples + 2) > shard.bytes)
      refuse("expected at least ", 4 * (shard.samples + 2), " bytes for ", shard.samples, " samples, found ",
             shard.bytes);
    shard.columns = columns_of(given);
    shards_.push_back(std::move(shard));
  }

  // Shards of the same columns share them.
  std::shared_ptr<const MdsShard::Columns> columns_of(const element& given) {
    std::string key;
    for (const char* part : {"column_names", "column_encodings", "column_sizes"})
      key += simdjson::minify(value_of<element>(given, part, "a list"));
    auto& known = columns_[key];
    if (!known) known = std::make_shared<const MdsShard::Columns>(read_columns(given));
    return known;
  }

  static MdsShard::Columns read_columns(const element& given) {
    MdsShard::Columns columns;
    const auto names = value_of<simdjson::dom::array>(given, "column_names", "a list");
    const auto encodings = value_of<simdjson::dom::array>(given, "column_encodings", "a list");
    const auto sizes = value_of<simdjson::dom::array>(given, "column_sizes", "a list");
    if (names.size() != encodings.size() || names.size() != sizes.size() || names.size() == 0)
      refuse("expected as many column_names as column_encodings and column_sizes, found ", names.size(), ", ",
             encodings.size(), " and ", sizes.size());
    auto encoding = encodings.begin();
    auto size = sizes.begin();
    for (const element& each : names) {
      std::string_view name, text;
      if (each.get(name) || (*encoding).get(text))
        refuse("expected texts in \"column_names\" and \"column_encodings\"");
      const bool is_new = std::ranges::none_of(columns, [&](const MdsColumn& column) { return column.name == name; });
      if (!is_new) refuse("the column \"", name, "\" is there twice");
      MdsColumn column(name, text);
      int64_t bytes = -1;
      if (!(*size).is_null() && (*size).get(bytes)) refuse("expected numbers or null in \"column_sizes\"");
      if (bytes != column.bytes)
        refuse("expected ", column.bytes < 0 ? std::string("null") : str(column.bytes), " as the size of the column \"",
               name, "\", which is encoded as ", text, ", found ", bytes);
      columns.push_back(std::move(column));
      ++encoding;
      ++size;
    }
    return columns;
  }

  std::vector<MdsShard>& shards_;
  const std::string folder_;
  std::map<std::string, std::shared_ptr<const MdsShard::Columns>> columns_;
};

// The indexes of a data set.
std::vector<std::string> indexes_of(const std::string& place) {
  if (place.ends_with(".json")) return {place};
  const std::string own = storage::name_in(place, std::string(kIndex));
  if (storage::exists(own)) return {own};
  std::vector<std::string> found;
  storage::list(place, true, [&](const storage::Entry& entry) {
    if (!entry.is_folder && entry.name.ends_with(str('/', kIndex)))
      found.push_back(storage::name_in(place, std::string(entry.name)));
  });
  if (found.empty()) refuse("expected an ", kIndex, " in ", place, " or in the folders in it, found none");
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<MdsShard> find_mds_shards(const std::vector<std::string>& places) {
  std::vector<std::string> indexes;
  for (const std::string& place : places)
    for (std::string& index : indexes_of(place)) indexes.push_back(std::move(index));
  storage::Needs needs;
  for (const std::string& index : indexes) needs.whole(index);
  const storage::Fetched fetched(needs);
  std::vector<MdsShard> shards;
  for (const std::string& index : indexes) {
    try {
      IndexReader(shards, storage::folder_of(index)).read(fetched.read_text(index));
    } catch (const Error& error) {
      fail(error.kind, index, ": ", error.message);
    }
  }
  return shards;
}

}  // namespace avida
