# Shell helpers around apt for tools/setup and the fetch scripts. Sourced after steps.sh.

apt_options=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

# package_list NAME...: the package names in tools/packages/NAME.txt.
package_list() {
  local name
  for name in "$@"; do
    sed -e '/^#/d' -e '/^[[:space:]]*$/d' "$repo/tools/packages/$name.txt"
  done
}

# missing_packages PACKAGE...: those of them that are not installed, one a line.
missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -q -x "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

require_debian() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this needs Debian 12 or 13 (expected apt-get and dpkg-query, found neither);" \
      "elsewhere install the equivalents of tools/packages/*.txt and run cmake --preset release"
  fi
  local id="" version=""
  id=$(. /etc/os-release && printf '%s' "${ID:-}")
  version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")
  if [[ $id != debian || ! $version =~ ^1[23]$ ]]; then
    say "  note: built and tested on Debian 12 and 13; this is ${id:-unknown} ${version:-unknown}"
  fi
}

# as_root COMMAND...: as it is for root, else through sudo; without either, says what to run.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 2 || -r /dev/tty ]]; }; then
    sudo "$@"
  else
    printf 'not root and no usable sudo; run as root:\n  %s\n' "$*" >&2
    return 77
  fi
}

apt_update() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" update
}

# apt_install PACKAGE...: fresh lists first, since old ones name files that mirrors have dropped.
# A list that cannot be had (a third-party source, no network) is no reason to stop before trying.
apt_install() {
  apt_update || printf 'apt-get update failed; going on with the lists at hand\n' >&2
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get "${apt_options[@]}" install -y --no-install-recommends "$@"
}
