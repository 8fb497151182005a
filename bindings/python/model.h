#pragma once

#include <nanobind/nanobind.h>

/* The class Model, and what is raised for rows that it refuses. */
void define_model(nanobind::module_ &m);
