#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "ptx/module.h"

namespace kernelcast::ptx {

// PTX ISA 9.0, chapter 10 "Special Registers".
const std::vector<SpecialRegister>& special_registers() {
  static const std::vector<SpecialRegister> all = [] {
    std::vector<SpecialRegister> list;
    for (const std::string_view name :
         {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"})
      list.push_back({name, Type::u32, true});
    for (const std::string_view name :
         {"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq",
          "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%globaltimer_lo",
          "%globaltimer_hi", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size"})
      list.push_back({name, Type::u32, false});
    for (const std::string_view name : {"%gridid", "%clock64", "%globaltimer", "%current_graph_exec"})
      list.push_back({name, Type::u64, false});
    list.push_back({"%is_explicit_cluster", Type::pred, false});
    for (const std::string_view name :
         {"%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
          "%reserved_smem_offset_0", "%reserved_smem_offset_1"})
      list.push_back({name, Type::b32, false});
    static std::deque<std::string> numbered;
    for (int i = 0; i < 32; ++i)
      list.push_back({numbered.emplace_back("%envreg" + std::to_string(i)), Type::b32, false});
    for (int i = 0; i < 8; ++i) list.push_back({numbered.emplace_back("%pm" + std::to_string(i)), Type::u32, false});
    for (int i = 0; i < 8; ++i)
      list.push_back({numbered.emplace_back("%pm" + std::to_string(i) + "_64"), Type::u64, false});
    std::ranges::sort(list, {}, &SpecialRegister::name);
    return list;
  }();
  return all;
}

}  // namespace kernelcast::ptx
