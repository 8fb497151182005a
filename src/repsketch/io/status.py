"""What may be wrong with a file: one status for each way, the same in every reader.

This table is the source; ``tools/write_format.py`` writes ``native/rsk_status.def`` from it.
"""

from enum import IntEnum

from ..errors import RepSketchError


class Status(IntEnum):
    """What a reader finds; ``text`` is the sentence shown to users."""

    text: str

    def __new__(cls, number: int, text: str) -> "Status":
        """A member with its sentence."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.text = text
        return member

    OK = 0, "no error"
    EMPTY = 1, "the file is empty"
    FILE_CAP = 2, "the file is larger than accepted; raise max_nbytes if you trust it"
    TOO_SHORT = 3, "the file is shorter than a header"
    SWAPPED = 4, "the magic bytes are reversed; the file was written by a program that swaps bytes"
    MAGIC = 5, "this is no .rsk file: the magic bytes are wrong"
    VERSION_ZERO = 6, "format version 0 does not exist"
    VERSION_FUTURE = 7, "the file has a newer format version; update repsketch"
    FLAGS = 8, "a flag is set that this version does not know, or one is missing"
    HEADER_CAP = 9, "the header is longer than 64 KiB"
    NO_SECTIONS = 10, "the file has no sections"
    SECTION_CAP = 11, "the file has more than 32 sections"
    HEADER_LENGTH = 12, "the header's length does not fit its number of sections"
    TRUNCATED = 13, "the file is shorter than it says; copy it again"
    TRAILING = 14, "the file holds bytes after its end"
    HEADER_CRC = 15, "the header's checksum is wrong; the file is damaged"
    PADDING = 16, "unused bytes are not zero"
    SECTION_DUPLICATE = 17, "a section appears twice"
    SECTION_ORDER = 18, "the sections are not in order"
    SECTION_ALIGNMENT = 19, "a section does not begin at a multiple of 8 bytes"
    SECTION_IN_HEADER = 20, "a section begins inside the header"
    SECTION_BEYOND = 21, "a section ends after the file"
    SECTION_EMPTY = 22, "a section is empty"
    SECTION_OVERLAP = 23, "two sections overlap"
    SECTION_HOLE = 24, "there is a hole between two sections"
    SECTION_UNKNOWN = 25, "the file needs a section that this version does not know; update repsketch"
    SECTION_CRC = 26, "a section's checksum is wrong; the file is damaged"
    SECTION_MISSING = 27, "a required section is missing"
    SECTION_UNEXPECTED = 28, "the file holds a section that the model does not use"
    SIZE_ZERO = 29, "a size is 0, or a row has fewer than two buckets"
    SIZE_CAP = 30, "a size is over its cap"
    SIZE_MISMATCH = 31, "a section's length or a size does not fit the other sizes"
    FIELD = 32, "a field has a value that is not allowed"
    GENERATOR = 33, "the file needs an unknown generator of hash functions"
    HASH = 34, "the file needs an unknown hash"
    COUNTER_TYPE = 35, "the type of the counters is unknown or not allowed here"
    PARAMETER_COUNT = 36, "the number of hash parameters is wrong"
    WIDTH = 37, "the bucket width is not a normal number above 0"
    BUCKETS = 38, "the number of buckets is not the number of levels to the power of the codes a row"
    SHIFT = 39, "a shift, a width or a limit is outside its range"
    SCALE = 40, "a scale or a gain is 0, negative, or not finite"
    OVERFLOW = 41, "a sum could overflow 32 bits"
    NOT_FINITE = 42, "a stored number is NaN, infinite or too large"
    COUNTER_RANGE = 43, "a stored integer is outside its range"
    INDEX_RANGE = 44, "an index points outside what it counts"
    INDEX_ORDER = 45, "indices are not in rising order"
    CLASS_COUNT = 46, "the number of classes does not fit"
    CLASS_DUPLICATE = 47, "two classes have the same label"
    TEXT = 48, "a text is not UTF-8, or holds a NUL"
    STRING_CAP = 49, "a text is longer than 1 KiB"
    NAME_COUNT = 50, "the number of feature names does not fit"
    NAME_DUPLICATE = 51, "two features have the same name"
    SCALER = 52, "the centers or scales of the columns are wrong in number or value"
    DIGEST = 53, "the regenerated hash functions are not those the file was written with"
    SUMS = 54, "the sums do not belong to the counters"
    META_OBJECT = 55, "the metadata are no JSON object"
    META_SYNTAX = 56, "the metadata are no JSON"
    META_DUPLICATE = 57, "a key appears twice in the metadata"
    META_DEPTH = 58, "the metadata are nested too deeply"
    META_NUMBER = 59, "a number in the metadata is too large or not finite"
    META_CAP = 60, "the metadata are too large"
    NOT_REGULAR = 61, "this is no regular file"
    FILE_CHANGED = 62, "the file changed while it was read; read it again"
    MEMORY_CAP = 63, "predicting takes more memory than accepted; raise max_memory if you trust the file"
    WORK_CAP = 64, "predicting takes more operations than accepted; raise max_work if you trust the file"
    MAGNITUDE = 65, "stored numbers are so large that an output could be infinite or NaN"
    INPUT_NOT_FINITE = 100, "an input is NaN or infinite"
    MEMORY = 101, "the memory given is too small or not aligned"
    ARGUMENT = 102, "an argument is not allowed"


class FormatError(RepSketchError, ValueError):
    """A file that is not a good .rsk file; ``status`` says why, ``detail`` gives numbers where there are some."""

    def __init__(self, status: Status, where: str = "", detail: str = "") -> None:
        super().__init__(f"{where}{detail}{status.text} ({status.name}, status {status.value}).")
        self.status, self.detail = status, detail
