// The Python face of the C core: checks arrays, calls rsk_*, nothing else.
#include <nanobind/nanobind.h>

#include "faults.h"
#include "model.h"
#include "rsk.h"
#include "trainer.h"
#include "training.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_native, m) {
    m.doc() = "The C core of repsketch.";
    m.def("status_text", [](int status) { return rsk_status_text(rsk_status(status)); }, "status"_a);
    m.def("isas", [] {
        nb::dict names;
        for (int isa = 0; isa < RSK_N_ISAS; isa++)
            if (rsk_isa_exists(isa)) names[rsk_isa_name(isa)] = isa;
        return names;
    });
    define_model(m);
    define_training(m);
    define_trainer(m);
    define_faults(m);
}
