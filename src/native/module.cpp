// The native module. Everything a user sees is in Python; see panmatch/native/_core.pyi.
#include "bindings.hpp"

NB_MODULE(_core, m) {
    panmatch::bind_voxels(m);
    panmatch::bind_graph(m);
    panmatch::bind_parts(m);
    panmatch::bind_masks(m);
    panmatch::bind_files(m);
    panmatch::bind_instances(m);
}
