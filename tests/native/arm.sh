#!/usr/bin/env bash
# Builds the package for ARM64 and compares its numbers, bit by bit, with the recorded ones, on an
# emulated processor; then runs the tests that it is given. Changes nothing on this machine: Python
# for ARM64 comes from Debian's packages and is unpacked in build/arm.
#
#     tests/native/arm.sh PYTHON [TEST …]
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$1
shift
arm=$PWD/build/arm
root=$arm/root
packages=(libbz2-1.0 libc6 libexpat1 libffi8 libgcc-s1 liblzma5 libpython3.11-dev
    libpython3.11-minimal libpython3.11-stdlib libstdc++6 libuuid1 python3.11-minimal zlib1g)

unpack_python() {
    mkdir -p "$arm"/apt/{lists,cache}/partial "$arm"/apt/cache/archives/partial "$arm/packages" "$root"
    touch "$arm/apt/status"
    cat > "$arm/apt/apt.conf" << END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
Dir::Cache "$arm/apt/cache";
Dir::State::lists "$arm/apt/lists";
Dir::State::status "$arm/apt/status";
END
    export APT_CONFIG=$arm/apt/apt.conf
    apt-get update -qq
    (cd "$arm/packages" && apt-get download -qq "${packages[@]}")
    for package in "$arm"/packages/*.deb; do dpkg -x "$package" "$root"; done
}

install_dependencies() {
    local platforms=()
    for glibc in 17 24 27 28; do platforms+=(--platform "manylinux_2_${glibc}_aarch64"); done
    "$python" -m pip install --quiet --target "$arm/packages-of-python" --only-binary :all: \
        --implementation cp --python-version 3.11 --platform manylinux2014_aarch64 "${platforms[@]}" \
        connected-components-3d numpy scipy pytest hypothesis pandas pydantic pyyaml
}

build_package() {
    rm -rf "$arm/panmatch"
    mkdir -p "$arm/panmatch"
    local tools
    tools=$(dirname "$("$python" -c 'import sys; print(sys.executable)')")
    PATH=$tools:$PATH cmake -S . -B "$arm/cmake" -G Ninja --log-level=ERROR \
        -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" -DPANMATCH_STRICT=ON \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_CXX_FLAGS="-idirafter $root/usr/include" \
        -DPython_EXECUTABLE="$python" -DPython_INCLUDE_DIR="$root/usr/include/python3.11"
    PATH=$tools:$PATH cmake --build "$arm/cmake"
    cp -r src/panmatch "$arm/panmatch/"
    rm -f "$arm"/panmatch/panmatch/native/*.so
    cp "$arm"/cmake/_core.*.so "$arm/panmatch/panmatch/native/_core.cpython-311-aarch64-linux-gnu.so"
}

emulated_python() {
    PYTHONHOME=$root/usr PYTHONPATH=$arm/panmatch:$arm/packages-of-python \
        qemu-aarch64 -L "$root" "$root/usr/bin/python3.11" "$@"
}

[ -x "$root/usr/bin/python3.11" ] || unpack_python
[ -d "$arm/packages-of-python" ] || install_dependencies
build_package
emulated_python -m tests.native.numbers
[ $# -eq 0 ] || emulated_python -m pytest -q -p no:cacheprovider "$@"
