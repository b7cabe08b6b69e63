"""Random augmentation: AutoAugment, RandAugment, MixUp, CutMix, Mosaic.

The functions themselves stand in `avida`: `avida.rand_augment(images)`.
"""

from avida.augment._arguments import between as between
from avida.augment._arguments import chance as chance
from avida.augment._arguments import either as either
from avida.augment._arguments import normal as normal
from avida.augment._augmentation import Augmentation as Augmentation
from avida.augment._augmentation import augmentation as augmentation
from avida.augment._automatic import auto_augment as auto_augment
from avida.augment._automatic import rand_augment as rand_augment
from avida.augment._automatic import trivial_augment as trivial_augment
from avida.augment._combinators import maybe as maybe
from avida.augment._combinators import one_of as one_of
from avida.augment._combinators import shuffled as shuffled
from avida.augment._combinators import some_of as some_of
from avida.augment._glass import glass_blur as glass_blur
from avida.augment._mix import cutmix as cutmix
from avida.augment._mix import mixup as mixup
from avida.augment._mosaic import mosaic as mosaic
from avida.augment._operations import brightness as brightness
from avida.augment._operations import color as color
from avida.augment._operations import contrast as contrast
from avida.augment._operations import equalize as equalize
from avida.augment._operations import rotate as rotate
from avida.augment._operations import sharpness as sharpness
from avida.augment._operations import shear_x as shear_x
from avida.augment._operations import shear_y as shear_y
from avida.augment._operations import translate as translate
from avida.augment._ops import *  # noqa: F403
from avida.augment._policies import CIFAR10 as CIFAR10
from avida.augment._policies import IMAGENET as IMAGENET
from avida.augment._policies import POLICIES as POLICIES
from avida.augment._policies import SVHN as SVHN
from avida.augment._policies import Policy as Policy
from avida.augment._policies import Step as Step
from avida.augment._sound import add_noise as add_noise
from avida.augment._sound import speed as speed
from avida.augment._standard import AUTO_AUGMENT as AUTO_AUGMENT
from avida.augment._standard import RAND_AUGMENT as RAND_AUGMENT
from avida.augment._standard import TRIVIAL_AUGMENT_WIDE as TRIVIAL_AUGMENT_WIDE
from avida.noise._ops import salt_and_pepper as salt_and_pepper
