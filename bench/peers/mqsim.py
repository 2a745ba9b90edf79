"""MQSim beside ssdlab: python bench/peers/mqsim.py --peer MQSim --program ssdlab

Get https://github.com/CMU-SAFARI/MQSim, build it with `make`, and name its program. The drive is that of `drive.py`;
the pages are those that MQSim says it programmed.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import drive

VERSION = "7ec40e3"

DEVICE = {
    "Seed": 321,
    "Enabled_Preconditioning": "true",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": 65535,
    "Queue_Fetch_Size": 512,
    "Caching_Mechanism": "ADVANCED",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": 33_554_432,
    "Data_Cache_DRAM_Row_Size": 8192,
    "Data_Cache_DRAM_Data_Rate": 800,
    "Data_Cache_DRAM_Data_Busrt_Size": 4,
    "Data_Cache_DRAM_tRCD": 13,
    "Data_Cache_DRAM_tCL": 13,
    "Data_Cache_DRAM_tRP": 13,
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": 2_097_152,
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "Overprovisioning_Ratio": f"{drive.SPARE_SHARE:.4f}",
    "GC_Exec_Threshold": 0.05,
    "GC_Block_Selection_Policy": "GREEDY",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "false",
    "GC_Hard_Threshold": 0.005,
    "Dynamic_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Threshold": 100,
    "Preferred_suspend_erase_time_for_read": 700_000,
    "Preferred_suspend_erase_time_for_write": 700_000,
    "Preferred_suspend_write_time_for_read": 100_000,
    "Flash_Channel_Count": drive.CHANNELS,
    "Flash_Channel_Width": 1,
    "Channel_Transfer_Rate": 333,
    "Chip_No_Per_Channel": 1,
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "NONE",
    **{f"Page_Read_Latency_{page}": drive.READ_NS for page in ("LSB", "CSB", "MSB")},
    **{f"Page_Program_Latency_{page}": drive.PROGRAM_NS for page in ("LSB", "CSB", "MSB")},
    "Block_Erase_Latency": drive.ERASE_NS,
    "Block_PE_Cycles_Limit": 10_000,
    "Suspend_Erase_Time": 700_000,
    "Suspend_Program_Time": 100_000,
    "Die_No_Per_Chip": 1,
    "Plane_No_Per_Die": drive.PLANES,
    "Block_No_Per_Plane": drive.BLOCKS,
    "Page_No_Per_Block": drive.PAGES,
    "Page_Capacity": drive.PAGE_BYTES,
    "Page_Metadat_Capacity": 224,
}
HOST = {
    "PCIe_Lane_Bandwidth": 1.0,
    "PCIe_Lane_Count": 4,
    "SATA_Processing_Delay": 400_000,
    "Enable_ResponseTime_Logging": "false",
    "ResponseTime_Logging_Period_Length": 1_000_000,
}


def elements(values: dict[str, object]) -> str:
    return "".join(f"<{name}>{value}</{name}>" for name, value in values.items())


def flow(commands: int) -> dict[str, object]:
    return {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
        "Channel_IDs": ",".join(str(channel) for channel in range(drive.CHANNELS)),
        "Chip_IDs": "0",
        "Die_IDs": "0",
        "Plane_IDs": "0,1",
        "Initial_Occupancy_Percentage": 100,
        "Working_Set_Percentage": 100,
        "Synthetic_Generator_Type": "QUEUE_DEPTH",
        "Read_Percentage": 0,
        "Address_Distribution": "RANDOM_UNIFORM",
        "Percentage_of_Hot_Region": 0,
        "Generated_Aligned_Addresses": "true",
        "Address_Alignment_Unit": 8,
        "Request_Size_Distribution": "FIXED",
        "Average_Request_Size": 8,
        "Variance_Request_Size": 0,
        "Seed": 798,
        "Average_No_of_Reqs_in_Queue": drive.QUEUE_DEPTH,
        "Intensity": 32_768,
        "Stop_Time": 0,
        "Total_Requests_To_Generate": commands,
    }


def run(directory: Path, commands: int) -> float:
    ssd, workload = directory / "ssd.xml", directory / "load.xml"
    flash = f"<Flash_Parameter_Set>{elements(FLASH)}</Flash_Parameter_Set>"
    ssd.write_text(
        f"<Execution_Parameter_Set><Host_Parameter_Set>{elements(HOST)}</Host_Parameter_Set>"
        f"<Device_Parameter_Set>{elements(DEVICE)}{flash}</Device_Parameter_Set></Execution_Parameter_Set>"
    )
    name = "IO_Flow_Parameter_Set_Synthetic"
    workload.write_text(
        f"<MQSim_IO_Scenarios><IO_Scenario><{name}>{elements(flow(commands))}</{name}>"
        "</IO_Scenario></MQSim_IO_Scenarios>"
    )
    call = [os.environ["PEER"], "-i", ssd, "-w", workload]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    result = (directory / "load_scenario_1.xml").read_text()
    issued = {name: int(count) for name, count in re.findall(r'(Issued_Flash_\w+)="(\d+)"', result)}
    pages = issued["Issued_Flash_Program_CMD"]
    pages += drive.PLANES * issued["Issued_Flash_Multiplane_Program_CMD"]
    return float(pages)


if __name__ == "__main__":
    drive.compare("MQSim", VERSION, run, 1_000, 300_000)
