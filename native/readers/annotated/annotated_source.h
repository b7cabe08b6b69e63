// The source of readers.Annotated: the bytes of images, and what is in them.
#pragma once
#include <memory>

#include "readers/annotated/annotated_files.h"
#include "readers/annotated/annotations.h"
#include "readers/source.h"

namespace avida {

// Annotations are parsed with each sample, so that opening a data set takes a listing; `classes` has the labels of
// names, for formats that have names.
std::shared_ptr<Source> annotated_source(AnnotatedFiles files, ClassNumbers classes, Source::Classes names,
                                         const AnnotatedArgs& args);

}  // namespace avida
