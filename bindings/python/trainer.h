#pragma once

#include <nanobind/nanobind.h>

void define_trainer(nanobind::module_ &m);
