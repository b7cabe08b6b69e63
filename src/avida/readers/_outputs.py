"""What the outputs of readers are called where they become columns."""

# By the class of a reader; others need names, or give dictionaries.
NAMES = {
    "Caffe": ["image", "label"],
    "COCO": ["image", "boxes", "labels"],
    "File": ["image", "label"],
    "MXNet": ["image", "label"],
    "Numpy": ["array"],
}
