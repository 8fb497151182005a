#pragma once

#include <nanobind/nanobind.h>

void define_training(nanobind::module_ &m);
