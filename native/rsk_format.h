/* rsk_format.h: the numbers of the .rsk format, docs/spec/format.md, section 2. Written by
 * tools/write_format.py from src/repsketch/io/records.py, which is the one list of them (streams: lsh/generator.py).
 */
#ifndef RSK_FORMAT_H
#define RSK_FORMAT_H

enum { RSK_MAX_ROW_GROUPS = 4, RSK_ROW_GROUP_STRIDE = 8, RSK_MAX_STAGES = 4, RSK_STAGE_STRIDE = 4 };
enum { RSK_FIRST_OPTIONAL = 64, RSK_FIRST_POOL = 16, RSK_GENERATOR_VERSION = 1 };

/* What predicts: float32 numbers, or integers. */
enum { RSK_FLOAT32 = 0, RSK_INT = 1, RSK_LAST_PRECISION = 1 };

/* What the outputs are for. */
enum { RSK_TASK_NONE = 0, RSK_TASK_CLASSIFICATION = 1, RSK_TASK_REGRESSION = 2, RSK_LAST_TASK = 2 };

/* From values to coordinates: a shift alone, a matrix of so many bits, or stages. */
enum { RSK_PROJECTION_NONE = 0, RSK_PROJECTION_SHIFT = 1, RSK_PROJECTION_FLOAT32 = 2, RSK_PROJECTION_INT8 = 3,
       RSK_PROJECTION_TERNARY = 4, RSK_PROJECTION_STAGES = 5, RSK_LAST_PROJECTION_KIND = 5 };

/* Type of the linear term's entries. */
enum { RSK_LINEAR_NONE = 0, RSK_LINEAR_FLOAT32 = 1, RSK_LINEAR_INT16 = 2, RSK_LINEAR_INT8 = 3,
       RSK_LAST_LINEAR_TYPE = 3 };

/* How centers and scales are stored. */
enum { RSK_STORED_FLOAT32 = 0, RSK_STORED_BFLOAT16 = 1, RSK_STORED_FLOAT8 = 2, RSK_LAST_STORED_AS = 2 };

/* How offsets are stored; NONE: all are 0. */
enum { RSK_OFFSET_FLOAT32 = 0, RSK_OFFSET_BFLOAT16 = 1, RSK_OFFSET_NONE = 2, RSK_LAST_OFFSET_TYPE = 2 };

/* Kinds of the columns: all alike, or section KINDS. */
enum { RSK_KINDS_NUMERIC = 0, RSK_KINDS_BOOLEAN = 1, RSK_KINDS_MIXED = 2, RSK_LAST_KINDS = 2 };

/* What a group of rows hashes. */
enum { RSK_SOURCE_VALUES = 0, RSK_SOURCE_PROJECTED = 1, RSK_LAST_SOURCE = 1 };

/* LSH families, whose rows have their own codes, and from POOL_TERNARY on pools of codes that rows share. */
enum { RSK_L2 = 0, RSK_ANGULAR = 1, RSK_MINHASH = 2, RSK_L1 = 3, RSK_POOL_TERNARY = 16, RSK_POOL_SPARSE = 17,
       RSK_POOL_THRESHOLD = 18, RSK_LAST_HASH = 18 };

/* Distribution of the directions of L2 and Angular. */
enum { RSK_DIRECTIONS_TERNARY = 0, RSK_DIRECTIONS_GAUSSIAN = 1, RSK_LAST_DIRECTION_KIND = 1 };

/* From the codes of a row to its bucket. */
enum { RSK_UNIVERSAL = 0, RSK_DIRECT = 1, RSK_LAST_FOLD = 1 };

/* Type of the counters. */
enum { RSK_COUNTER_FLOAT32 = 0, RSK_COUNTER_INT16 = 1, RSK_COUNTER_INT8 = 2, RSK_COUNTER_INT4 = 3,
       RSK_LAST_COUNTER_TYPE = 3 };

/* From rows to an accumulator. */
enum { RSK_SUM = 0, RSK_MEAN = 1, RSK_MEDIAN_OF_MEANS = 2, RSK_LAST_AGGREGATE = 2 };

/* From counters to outputs: as they are, by one matrix, by one vector a row. */
enum { RSK_DECODE_NONE = 0, RSK_DECODE_SHARED = 1, RSK_DECODE_ROWS = 2, RSK_LAST_DECODE_KIND = 2 };

/* Bits of an entry of a decode matrix in the int precision. */
enum { RSK_DECODE_BITS_INT8 = 0, RSK_DECODE_BITS_INT4 = 1, RSK_LAST_DECODE_BITS = 1 };

/* What a stage hands on: its coordinates, or a map of each of them to 8 bits. */
enum { RSK_ACTIVATION_NONE = 0, RSK_ACTIVATION_TABLE = 1, RSK_ACTIVATION_RELU = 2, RSK_ACTIVATION_CLIP = 3,
       RSK_LAST_ACTIVATION = 3 };

/* How the matrix of a stage is stored: all entries, or a bitmap and those that are not 0. */
enum { RSK_STAGE_MATRIX_INT8 = 0, RSK_STAGE_MATRIX_INT4 = 1, RSK_STAGE_MATRIX_SPARSE_INT8 = 2,
       RSK_STAGE_MATRIX_SPARSE_INT4 = 3, RSK_LAST_STAGE_MATRIX = 3 };

/* Flags of MODEL. */
enum { RSK_HAS_COLUMNS = 1, RSK_ACCEPTS_MISSING = 2, RSK_HAS_SHIFT = 4, RSK_HAS_MULTIPLIERS = 8,
       RSK_ALL_MODEL_FLAGS = 15 };

/* Flags of ROW_GROUP, for pools. */
enum { RSK_HAS_INDICES = 1, RSK_SEEDED = 2, RSK_NORMALISED = 4, RSK_INTERPOLATED = 8, RSK_LEVELS = 16,
       RSK_ALL_ROW_GROUP_FLAGS = 31 };

/* What a word is used for; words of different streams are independent. */
enum { RSK_STREAM_TERNARY = 1, RSK_STREAM_GAUSSIAN = 2, RSK_STREAM_OFFSET = 3, RSK_STREAM_FOLD = 4,
       RSK_STREAM_PITCH = 5, RSK_STREAM_CELL = 6, RSK_STREAM_MINHASH = 7, RSK_STREAM_SPARSE = 8, RSK_STREAM_BIAS = 9,
       RSK_LAST_STREAM = 9 };

/* Types of sections, SECTION(name, type). Those of group of rows i are RSK_ROW_GROUP_STRIDE i higher,
 * those of stage i RSK_STAGE_STRIDE i. */
#define RSK_SECTIONS(SECTION) \
    SECTION(MODEL, 1) \
    SECTION(COLUMNS, 2) \
    SECTION(KINDS, 3) \
    SECTION(CENTERS, 4) \
    SECTION(SCALES, 5) \
    SECTION(PROJECTION, 6) \
    SECTION(SHIFT, 7) \
    SECTION(MULTIPLIERS, 8) \
    SECTION(PROJECTION_SCALES, 9) \
    SECTION(LINEAR, 10) \
    SECTION(LINEAR_GAIN, 11) \
    SECTION(OFFSET, 12) \
    SECTION(ROW_GROUP, 16) \
    SECTION(INDICES, 17) \
    SECTION(CODE_COLUMNS, 18) \
    SECTION(THRESHOLDS, 19) \
    SECTION(COUNTERS, 20) \
    SECTION(DECODE, 21) \
    SECTION(GAIN, 22) \
    SECTION(STAGE, 48) \
    SECTION(STAGE_MATRIX, 49) \
    SECTION(STAGE_COORDINATES, 50) \
    SECTION(STAGE_LINEAR, 51) \
    SECTION(CLASSES, 64) \
    SECTION(NAMES, 65) \
    SECTION(SUMS, 66) \
    SECTION(METADATA, 67) \
    SECTION(CATEGORIES, 68) \
    SECTION(INTERVALS, 69)

/* The record MODEL, FIELD(name, type, offset); and its unused bytes, ZEROS(offset, nbytes). */
enum { RSK_MODEL_NBYTES = 64 };
#define RSK_MODEL_FIELDS(FIELD) \
    FIELD(precision, u8, 0) \
    FIELD(generator, u8, 1) \
    FIELD(task, u8, 2) \
    FIELD(n_row_groups, u8, 3) \
    FIELD(projection, u8, 4) \
    FIELD(right_shift, u8, 5) \
    FIELD(linear, u8, 6) \
    FIELD(stored_as, u8, 7) \
    FIELD(n_features, u32, 8) \
    FIELD(n_columns, u32, 12) \
    FIELD(n_values, u32, 16) \
    FIELD(n_components, u32, 20) \
    FIELD(n_outputs, u32, 24) \
    FIELD(kinds, u16, 28) \
    FIELD(flags, u16, 30) \
    FIELD(low, i16, 32) \
    FIELD(high, i16, 34) \
    FIELD(limit, u16, 36) \
    FIELD(offset_stored_as, u8, 38) \
    FIELD(n_stages, u8, 39) \
    FIELD(n_classes, u32, 40) \
    FIELD(n_centers, u32, 44) \
    FIELD(n_scales, u32, 48) \
    FIELD(n_linear_gains, u32, 52) \
    FIELD(center_bias, i8, 56) \
    FIELD(scale_bias, i8, 57)
#define RSK_MODEL_UNUSED(ZEROS) \
    ZEROS(58, 6)

/* The record ROW_GROUP, FIELD(name, type, offset); and its unused bytes, ZEROS(offset, nbytes). */
enum { RSK_ROW_GROUP_NBYTES = 80 };
#define RSK_ROW_GROUP_FIELDS(FIELD) \
    FIELD(source, u8, 0) \
    FIELD(hash, u8, 1) \
    FIELD(directions, u8, 2) \
    FIELD(fold, u8, 3) \
    FIELD(counter_type, u8, 4) \
    FIELD(aggregate, u8, 5) \
    FIELD(decode, u8, 6) \
    FIELD(decode_shift, u8, 7) \
    FIELD(width_bits, u8, 8) \
    FIELD(flags, u8, 9) \
    FIELD(n_nonzeros, u8, 10) \
    FIELD(n_parameters, u8, 11) \
    FIELD(threshold_nbytes, u8, 12) \
    FIELD(decode_stored_as, u8, 13) \
    FIELD(width, f64, 16) \
    FIELD(seed, u32, 24) \
    FIELD(n_rows, u32, 28) \
    FIELD(n_concat, u32, 32) \
    FIELD(n_buckets, u32, 36) \
    FIELD(n_levels, u32, 40) \
    FIELD(n_codes, u32, 44) \
    FIELD(n_axes, u32, 48) \
    FIELD(n_numbers, u32, 52) \
    FIELD(n_groups, u32, 56) \
    FIELD(n_gains, u32, 60) \
    FIELD(bias_scale, u32, 64) \
    FIELD(digest, u32, 68)
#define RSK_ROW_GROUP_UNUSED(ZEROS) \
    ZEROS(14, 2) \
    ZEROS(72, 8)

/* The record STAGE, FIELD(name, type, offset); and its unused bytes, ZEROS(offset, nbytes). */
enum { RSK_STAGE_NBYTES = 32 };
#define RSK_STAGE_FIELDS(FIELD) \
    FIELD(activation, u8, 0) \
    FIELD(matrix, u8, 1) \
    FIELD(right_shift, u8, 2) \
    FIELD(shift_bits, u8, 3) \
    FIELD(width_bits, u8, 4) \
    FIELD(n_levels, u8, 5) \
    FIELD(limit, u16, 6) \
    FIELD(n_components, u32, 8) \
    FIELD(n_nonzeros, u32, 12) \
    FIELD(n_gains, u32, 16)
#define RSK_STAGE_UNUSED(ZEROS) \
    ZEROS(20, 12)

#endif
