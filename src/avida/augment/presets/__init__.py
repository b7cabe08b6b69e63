"""What well-known models are trained with, as plain functions from files or images to the network's input."""

from avida.augment.presets._detection import detr as detr
from avida.augment.presets._detection import ssd as ssd
from avida.augment.presets._detection import yolo as yolo
from avida.augment.presets._images import dino as dino
from avida.augment.presets._images import imagenet_eval as imagenet_eval
from avida.augment.presets._images import imagenet_train as imagenet_train
from avida.augment.presets._images import simclr as simclr
from avida.augment.presets._images import timm_eval as timm_eval
from avida.augment.presets._images import timm_train as timm_train
from avida.augment.presets._sound import wav2vec as wav2vec
from avida.augment.presets._sound import whisper as whisper
