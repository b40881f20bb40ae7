/** By a part of its version, the kernel of a distribution, a cloud or an image for many machines. Whose a mere number is nobody can tell. */
const PARTS = [
  // Mere numbers: Bottlerocket, Container-Optimized OS, NixOS, Void, Windows, and own builds.
  '^[\\d._+-]+$',
  // An RPM, whoever built it: its architecture after a dot.
  '\\.(?:x86_64|aarch64|ppc64le|s390x)$',
  // RHEL and all that is built from it, Amazon, Fedora, Oracle, Azure Linux, Photon, openEuler and its kin.
  '\\.(?:el|amzn|fc|cm|azl|al|an|oe|hce|tl|ky|kos|vz|mga|lns)\\d',
  '\\.?ph\\d',
  'uek',
  'tlinux|euleros|mariner',
  // Debian, with backports and clouds; UOS. Vendors of boards append the architecture, too.
  '(?<!(?:rockchip|rk\\d|sunxi|meson|imx|tegra)\\w*)[-+](?:amd64|arm64|armmp|686|powerpc64le|s390x|riscv64)',
  // Ubuntu: the number of its interface, then for what it is.
  '-\\d+-(?:generic|lowlatency|virtual|kvm|aws|azure|gcp|gke|gkeop|ibm|oracle|oem|raspi|nvidia|realtime|hwe|fips|bluefield|intel|xilinx|iot|qcom|mtk|laptop|starfive)',
  // SUSE, with fixes for one customer and builds of a branch; ALT.
  '-\\d[\\w.]*-(?:default|preempt|longterm|azure|rt|vanilla|kvmsmall|64kb)$|-alt\\d',
  // Arch and its kin, Alpine and Gentoo as they are shipped.
  '-(?:arch|zen|hardened|cachyos|manjaro)|\\d-(?:lts|virt|rt|rpi)$|gentoo-dist',
  'flatcar|coreos|talos|k3os|rancher|gardenlinux|cos$|\\.native$',
  'linuxkit|microsoft|wsl|orbstack|-pve|truenas|xanmod|liquorix|linode|vyos|velinux',
  // With AppArmor: Armbian from the sources of Linux itself, Raspberry Pi OS since its kernels are packages.
  '-(?:current|edge)-',
  'rpt-rpi',
];

/** A regular expression, whatever the case. */
export const DISTRIBUTION_KERNELS = PARTS.join('|');
