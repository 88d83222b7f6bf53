// The atomic functions with a scope in their name: atomicAdd_block, atomicCAS_system, ...
#pragma once
KC_ATOMIC_OPS(_block, __MEMORY_SCOPE_WRKGRP)
KC_ATOMIC_OPS(_system, __MEMORY_SCOPE_SYSTEM)
