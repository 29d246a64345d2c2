"""IREE: compiles a written program with the options that stand beside it, and runs it."""

import re

import iree.compiler
import iree.runtime
import numpy as np

# For lavapipe no GPU is named: programs for one compile, run, and give wrong numbers there.
VULKAN_FLAGS = ["--iree-input-demote-f64-to-f32=false", "--iree-hal-target-device=vulkan"]


class CompileError(Exception):
    """What the compiler says first."""


def flags_of(path):
    """The options of an `iree.flags` file, without the one that the Python interface sets itself."""
    return [flag for flag in path.read_text(encoding="utf-8").split() if not flag.startswith("--iree-input-type")]


def compile_text(text, flags):
    try:
        return iree.compiler.compile_str(text, input_type="stablehlo", extra_args=flags)
    except iree.compiler.CompilerToolError as error:
        found = re.search(r"error: (.*)", str(error))
        raise CompileError((found.group(1) if found else str(error))[:400]) from None


class Program:
    """A compiled module on a device: `local-sync`, `local-task` or `vulkan`."""

    def __init__(self, binary, device="local-sync", parameters=None):
        config = iree.runtime.Config(device)
        modules = [iree.runtime.create_hal_module(config.vm_instance, config.device)]
        if parameters is not None:
            index = iree.runtime.ParameterIndex()
            index.load(str(parameters))
            modules.insert(0, iree.runtime.create_io_parameters_module(config.vm_instance,
                                                                       index.create_provider(scope="model")))
        modules.append(iree.runtime.VmModule.copy_buffer(config.vm_instance, binary))
        self._module = iree.runtime.SystemContext(vm_modules=modules, config=config).modules.module
        self._to_host = _staged if device == "vulkan" else lambda array: array.to_host()

    def __call__(self, function, *operands):
        """The function's only result."""
        result, = self.results(function, *operands)
        return result

    def results(self, function, *operands):
        """The function's results in order."""
        found = self._module[function](*operands)
        several = found if isinstance(found, (list, tuple)) else [found]
        return [np.asarray(self._to_host(one)) for one in several]


def _staged(array):
    """to_host() of the Python interface hands lavapipe memory that is not aligned as it asks; this copies."""
    source = array._buffer_view.get_buffer()
    device = array._device
    usage = iree.runtime.BufferUsage.TRANSFER_TARGET | iree.runtime.BufferUsage.MAPPING_SCOPED
    memory = iree.runtime.MemoryType.HOST_LOCAL | iree.runtime.MemoryType.DEVICE_VISIBLE
    target = device.allocator.allocate_buffer(memory_type=int(memory), allowed_usage=int(usage),
                                              allocation_size=source.byte_length())
    semaphore = device.create_semaphore(0)
    done = iree.runtime.HalFence.create_at(semaphore, 1)
    device.queue_copy(source, target, wait_semaphores=iree.runtime.HalFence.create_at(semaphore, 0),
                      signal_semaphores=done)
    done.wait()
    values = target.map().asarray(array._buffer_view.shape, array._get_raw_dtype())
    return np.array(values).astype(array.dtype)
