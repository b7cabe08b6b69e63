// A FrameFilter that runs an operator: on each frame of a video, in the thread that decodes it.
#pragma once
#include <memory>

#include "codecs/video/video.h"
#include "operator/spec.h"

namespace avida {

// The operator makes one image of another, of bytes, with fixed arguments.
std::shared_ptr<const codecs::FrameFilter> frame_filter(const OpSpec& spec, std::shared_ptr<void> args);

}  // namespace avida
