#include "readers/annotated/annotated_files.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>

#include "codecs/codec.h"
#include "core/error.h"
#include "readers/annotated/yolo.h"
#include "readers/file/steps.h"
#include "storage/names.h"
#include "storage/storage.h"

namespace avida {
namespace {

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view without_ending(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == path.npos || path.find('/', dot) != path.npos ? path : path.substr(0, dot);
}
std::string_view stem_of(std::string_view path) { return without_ending(file_of(path)); }
bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && lower(name.substr(name.size() - ending.size())) == ending;
}
class ImageEndings {
 public:
  bool has(std::string_view name) const {
    return std::ranges::any_of(endings_, [&](std::string_view ending) { return ends_with(name, ending); });
  }

 private:
  const std::vector<std::string_view> endings_ = codecs::image_endings();
};
bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != path.npos; }
std::string with_slash(std::string folder) {
  if (!folder.empty() && !folder.ends_with('/')) folder += '/';
  return folder;
}

// Names in a folder and in those under it, sorted, that the function accepts.
template <class Accept>
std::vector<std::string> listed(const std::string& folder, const Opening& opening, Accept&& accept) {
  std::vector<std::string> names;
  Steps steps(opening.interrupt);
  storage::list(folder, true, [&](const storage::Entry& entry) {
    steps.next();
    if (!entry.is_folder && !is_hidden(entry.name) && accept(entry.name)) names.emplace_back(entry.name);
  });
  std::ranges::sort(names);
  return names;
}

// The name of the file of labels of an image: "labels" in place of the last "images", and ".txt".
std::string labels_of(std::string_view image) {
  const std::string path = str('/', image);
  const size_t at = path.rfind("/images/");
  std::string made = at == path.npos ? path : str(path.substr(0, at), "/labels/", path.substr(at + 8));
  return str(without_ending(made), ".txt").substr(1);
}

class YoloFiles {
 public:
  YoloFiles(const AnnotatedArgs& args, const Opening& opening) : args_(args), opening_(opening) {}

  AnnotatedFiles find() {
    std::set<std::string> names;
    if (args_.image_folders)
      for (const std::string& place : *args_.image_folders)
        ends_with(place, ".txt") ? add_list(place, names) : add_folder(with_slash(place), "", names);
    else
      find_split(names);
    if (names.empty()) refuse("expected images in ", place(), ", found none");
    AnnotatedFiles files;
    const int of_images = files.images.add_folder(""), of_labels = files.annotations.add_folder("");
    bool found = false;
    for (const std::string& name : names) {
      const std::string labels = labels_of(name);
      const bool has_labels = labels_.contains(labels);
      files.images.add(of_images, name, 0);
      files.annotations.add(of_labels, labels, has_labels ? 0 : -1);
      found |= has_labels;
    }
    if (!found)
      refuse("expected labels of the images in ", place(), ", such as ", labels_of(*names.begin()), ", found none");
    files.format = args_.format ? *args_.format : kind_of_rows(files);
    return files;
  }

 private:
  std::string place() const {
    return args_.split ? str("the split \"", *args_.split, "\" of ", args_.root()) : args_.root();
  }

  void find_split(std::set<std::string>& names) {
    const std::string root = with_slash(args_.root());
    if (!args_.split) return add_folder(root, "", names);
    for (const std::string& part : {str("images/", *args_.split, '/'), str(*args_.split, "/images/")}) {
      add_folder(root, part, names);
      if (!names.empty()) return;
    }
  }

  // Images below `part` of the root, and all labels.
  void add_folder(const std::string& root, const std::string& part, std::set<std::string>& names) {
    const auto list = [&](const std::string& folder, const std::string& prefix) {
      for (const std::string& name : listed(
               folder, opening_, [&](std::string_view name) { return images_.has(name) || ends_with(name, ".txt"); })) {
        if (!images_.has(name))
          labels_.insert(folder + name);
        else if (name.starts_with(prefix))
          names.insert(folder + name);
      }
    };
    list(root, part);
    // Folders of images alone have their labels beside.
    const std::string labels = str(storage::folder_of(labels_of(root + "x")));
    if (labels != root) list_labels(labels);
  }

  void list_labels(const std::string& folder) {
    if (!listed_.insert(folder).second) return;
    const std::string_view scheme = storage::scheme_of(folder);
    if ((scheme.empty() || scheme == "file") && !storage::is_local_folder(folder)) return;
    for (const std::string& name :
         listed(folder, opening_, [](std::string_view name) { return ends_with(name, ".txt"); }))
      labels_.insert(folder + name);
  }

  // A text with the name of an image in each line, relative to its folder.
  void add_list(const std::string& path, std::set<std::string>& names) {
    const FileList list = FileList::from_text(path, "", false, opening_.interrupt);
    if (args_.confine) list.confine(path, opening_.interrupt);
    const std::string folder = storage::folder_of(path);
    for (int64_t i = 0; i < list.size(); i++) {
      std::string name = list.path(i);
      if (const std::string here = folder + "./"; name.starts_with(here)) name = folder + name.substr(here.size());
      list_labels(storage::folder_of(labels_of(name)));
      names.insert(std::move(name));
    }
  }

  AnnotationFormat kind_of_rows(const AnnotatedFiles& files) const {
    constexpr int kEnough = 64;
    if (args_.keypoint_shape) return AnnotationFormat::yolo_keypoints;
    std::set<int64_t> counts;
    int read = 0;
    for (int64_t i = 0; i < files.annotations.size() && read < kEnough; i++) {
      if (!files.has_annotation(i)) continue;
      const std::string text = storage::read_text(files.annotations.path(i));
      count_yolo_numbers(text, counts);
      read += !text.empty();
    }
    const int64_t some = counts.empty() ? 4 : *counts.begin();
    const auto is_known = [](int64_t count) { return count == 4 || (count >= 6 && count % 2 == 0); };
    if (std::ranges::any_of(counts, is_known)) std::erase_if(counts, std::not_fn(is_known));  // broken rows
    counts.erase(4);
    if (counts.empty()) return AnnotationFormat::yolo;
    if (counts == std::set<int64_t>{8}) return AnnotationFormat::yolo_rotated;
    // Keypoints would have their shape in the settings, and rows of one length.
    const bool has_settings = args_.class_names || args_.image_folders;
    if (is_known(*counts.begin()) && (counts.size() > 1 || *counts.begin() == 6 || has_settings))
      return AnnotationFormat::yolo_segments;
    refuse("cannot tell what the rows of ", some,
           " numbers behind the class are: say it by format=; keypoints need keypoint_shape=, such as (17, 3)");
  }

  const AnnotatedArgs& args_;
  const Opening& opening_;
  const ImageEndings images_;
  std::unordered_set<std::string> labels_, listed_;
};

// The folders of Pascal VOC that have images of labels.
constexpr std::string_view kClassImages = "SegmentationClass", kObjectImages = "SegmentationObject";

bool is_in(std::string_view path, std::string_view folder) {
  return str('/', path).find(str('/', folder, '/')) != std::string::npos;
}

// Images by their names without folders and endings.
class ImagesByStem {
 public:
  void add(const std::string& name) { images_.emplace(stem_of(name), name); }
  // That of a file of annotations: in the same folder, or the only one. Empty if there is none.
  std::string of(const std::string& annotation) const {
    const auto [first, last] = images_.equal_range(std::string(stem_of(annotation)));
    for (auto each = first; each != last; ++each)
      if (storage::folder_of(each->second) == storage::folder_of(annotation)) return each->second;
    if (first == last) return {};
    if (std::next(first) != last)
      refuse("expected one image for ", annotation, ", got ", first->second, " and ", std::next(first)->second);
    return first->second;
  }

 private:
  std::multimap<std::string, std::string> images_;
};

// The names in a list of VOC: the first word of each line.
std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  const std::string text = storage::read_text(path);
  constexpr std::string_view kBlanks = " \t\r\n";
  for (size_t at = text.find_first_not_of(kBlanks); at != text.npos; at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    names.insert(text.substr(at, end - at));
    at = text.find('\n', end);
    if (at == text.npos) break;
  }
  return names;
}

class NamedFiles {
 public:
  NamedFiles(const AnnotatedArgs& args, const Opening& opening, AnnotationFormat format)
      : args_(args), root_(with_slash(args.root())), format_(format) {
    const ImageEndings endings;
    const std::string_view ending = format == AnnotationFormat::voc ? ".xml" : ".json";
    for (std::string& name : listed(root_, opening, [&](std::string_view name) {
           return endings.has(name) || ends_with(name, ending) || ends_with(name, ".txt");
         })) {
      if (ends_with(name, ending))
        annotations_.push_back(std::move(name));
      else if (ends_with(name, ".txt"))
        texts_.insert(std::move(name));
      else if (is_in(name, kClassImages))
        class_images_.emplace(stem_of(name), name);
      else if (is_in(name, kObjectImages))
        object_images_.emplace(stem_of(name), name);
      else
        images_.add(name);
    }
    if (args.mask && annotations_.empty()) {
      has_objects_ = false;
      for (const auto& [stem, name] : class_images_) annotations_.push_back(name);
    }
    if (args.split) select(*args.split);
  }

  AnnotatedFiles find() const {
    AnnotatedFiles files;
    files.format = format_;
    files.has_objects = has_objects_;
    const int of_images = files.images.add_folder(root_), of_annotations = files.annotations.add_folder(root_);
    for (const std::string& name : annotations_) {
      const std::string image = images_.of(name);
      if (args_.mask && !class_images_.contains(std::string(stem_of(name)))) continue;
      files.images.add(of_images, image, image.empty() ? -1 : 0);
      files.annotations.add(of_annotations, name, has_objects_ ? 0 : -1);
      if (args_.mask) files.class_images.push_back(root_ + class_images_.at(std::string(stem_of(name))));
      if (args_.masks && format_ == AnnotationFormat::voc) {
        const auto found = object_images_.find(std::string(stem_of(name)));
        files.object_images.push_back(found == object_images_.end() ? "" : root_ + found->second);
      }
    }
    if (files.images.size() == 0)
      refuse("expected annotations ", args_.mask ? str("with images in ", kClassImages, ' ') : "", "in ", root_,
             args_.split ? str(" for the split \"", *args_.split, '"') : "", ", found none");
    return files;
  }

 private:
  // A list in ImageSets, or a folder.
  void select(const std::string& split) {
    for (const char* kind : {args_.mask || args_.masks ? "Segmentation" : "Main", "Main", "Segmentation", "Layout"})
      for (const std::string& text : texts_) {
        const std::string end = str("ImageSets/", kind, '/', split, ".txt");
        if (text != end && !text.ends_with('/' + end)) continue;
        const std::set<std::string> names = names_in(root_ + text);
        std::erase_if(annotations_,
                      [&](const std::string& each) { return !names.contains(std::string(stem_of(each))); });
        return;
      }
    std::erase_if(annotations_, [&](const std::string& each) { return !is_in(each, split); });
  }

  const AnnotatedArgs& args_;
  const std::string root_;
  const AnnotationFormat format_;
  std::vector<std::string> annotations_;  // or the label maps, where there are no others
  bool has_objects_ = true;
  std::set<std::string> texts_;
  ImagesByStem images_;
  std::map<std::string, std::string> class_images_, object_images_;  // by their stems
};

AnnotationFormat format_found(const AnnotatedArgs& args, const Opening& opening) {
  bool has_xml = false, has_json = false, has_text = false, has_label_maps = false;
  listed(args.root(), opening, [&](std::string_view name) {
    has_xml |= ends_with(name, ".xml");
    has_json |= ends_with(name, ".json");
    has_text |= ends_with(name, ".txt");
    has_label_maps |= is_in(name, kClassImages);
    return false;
  });
  if (has_xml || has_label_maps) return AnnotationFormat::voc;
  if (has_json && !has_text) return AnnotationFormat::labelme;
  if (has_text) return AnnotationFormat::yolo;
  refuse("expected annotations in ", args.root(),
         ": texts of YOLO (.txt), Pascal VOC's (.xml) or LabelMe's (.json), found none");
}

}  // namespace

AnnotatedFiles find_annotated(const AnnotatedArgs& args, const Opening& opening) {
  const AnnotationFormat format = args.format          ? *args.format
                                  : args.image_folders ? AnnotationFormat::yolo
                                                       : format_found(args, opening);
  if (is_yolo(format)) return YoloFiles(args, opening).find();
  return NamedFiles(args, opening, format).find();
}

}  // namespace avida
