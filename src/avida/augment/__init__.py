"""Random augmentation: AutoAugment, RandAugment, MixUp, CutMix, Mosaic.

The functions themselves stand in `avida`: `avida.rand_augment(images)`.
"""

from avida.augment import presets as presets
from avida.augment._arguments import between as between
from avida.augment._arguments import chance as chance
from avida.augment._arguments import either as either
from avida.augment._arguments import normal as normal
from avida.augment._automatic.aug_mix import aug_mix as aug_mix
from avida.augment._automatic.augmentation import Augmentation as Augmentation
from avida.augment._automatic.augmentation import augmentation as augmentation
from avida.augment._automatic.automatic import auto_augment as auto_augment
from avida.augment._automatic.automatic import rand_augment as rand_augment
from avida.augment._automatic.automatic import trivial_augment as trivial_augment
from avida.augment._automatic.operations import brightness as brightness
from avida.augment._automatic.operations import color as color
from avida.augment._automatic.operations import contrast as contrast
from avida.augment._automatic.operations import equalize as equalize
from avida.augment._automatic.operations import rotate as rotate
from avida.augment._automatic.operations import sharpness as sharpness
from avida.augment._automatic.operations import shear_x as shear_x
from avida.augment._automatic.operations import shear_y as shear_y
from avida.augment._automatic.operations import solarize_add as solarize_add
from avida.augment._automatic.operations import solarize_levels as solarize_levels
from avida.augment._automatic.operations import translate as translate
from avida.augment._automatic.operations import translate_x as translate_x
from avida.augment._automatic.operations import translate_y as translate_y
from avida.augment._automatic.standard import AUG_MIX as AUG_MIX
from avida.augment._automatic.standard import AUTO_AUGMENT as AUTO_AUGMENT
from avida.augment._automatic.standard import RAND_AUGMENT as RAND_AUGMENT
from avida.augment._automatic.standard import SPACES as SPACES
from avida.augment._automatic.standard import TRIVIAL_AUGMENT_WIDE as TRIVIAL_AUGMENT_WIDE
from avida.augment._automatic.sub_policies import CIFAR10 as CIFAR10
from avida.augment._automatic.sub_policies import IMAGENET as IMAGENET
from avida.augment._automatic.sub_policies import POLICIES as POLICIES
from avida.augment._automatic.sub_policies import SVHN as SVHN
from avida.augment._automatic.sub_policies import Step as Step
from avida.augment._automatic.sub_policies import SubPolicies as SubPolicies
from avida.augment._automatic.three_augment import three_augment as three_augment
from avida.augment._combinators import maybe as maybe
from avida.augment._combinators import one_of as one_of
from avida.augment._combinators import shuffled as shuffled
from avida.augment._combinators import some_of as some_of
from avida.augment._glass import glass_blur as glass_blur
from avida.augment._mixing.copy_paste import copy_paste as copy_paste
from avida.augment._mixing.mix import cutmix as cutmix
from avida.augment._mixing.mix import mixup as mixup
from avida.augment._mixing.mosaic import mosaic as mosaic
from avida.augment._ops import *  # noqa: F403
from avida.augment._policy.policy import Policy as Policy
from avida.augment._policy.record import record as record
from avida.augment._random_crop import random_crop as random_crop
from avida.augment._sound import add_noise as add_noise
from avida.augment._sound import speed as speed
from avida.noise._ops import salt_and_pepper as salt_and_pepper
