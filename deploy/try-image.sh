#!/usr/bin/env bash
# Builds the image with Debian's buildah and runs it with podman, as root, where no base image can be pulled:
# the base is made of this machine's Node with its libraries. Takes a minute. Not a part of the tests.
#
#     apt-get install -y --no-install-recommends buildah podman runc
#     npm run build && npm pack && deploy/try-image.sh [NODE]        # NODE: the program to put into the image
set -euo pipefail
cd "$(dirname "$0")/.."
node=$(readlink -f "${1:-$(command -v node)}")
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
archive=$(ls groundswell-*.tgz)
work=$(mktemp -d)
name=groundswell-trial-$$

# Storage of its own: no overlay file system is needed, and nothing of other images is touched.
cat > "$work/storage.conf" << CONF
[storage]
driver = "vfs"
graphroot = "$work/storage"
runroot = "$work/run"
CONF
cat > "$work/containers.conf" << CONF
[containers]
default_ulimits = []
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
CONF
echo '{"default":[{"type":"insecureAcceptAnything"}]}' > "$work/policy.json"
export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf TMPDIR=$work

clear_away() {
  podman rm --force --time 0 "$name" > /dev/null 2>&1 || true
  podman umount --all > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap clear_away EXIT
say() { printf '%s %s\n' "$(date +%T)" "$*"; }

# copy PROGRAM… into the folder $root with the libraries that they load.
copy() {
  local file
  for file in "$@" $(ldd "$@" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
    mkdir -p "$root$(dirname "$file")"
    cp --dereference "$file" "$root$file"
  done
}
base() {
  root=$work/$1
  mkdir -p "$root"/{usr/local/bin,tmp,etc,proc,sys,dev}
  cp "$node" "$root/usr/local/bin/node"
  local library
  for library in $(ldd "$node" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
    mkdir -p "$root$(dirname "$library")"
    cp --dereference "$library" "$root$library"
  done
  printf 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' > "$root/etc/passwd"
}
import() {
  local container
  container=$(buildah from --signature-policy "$work/policy.json" scratch)
  buildah add --quiet "$container" "$work/$1" / > /dev/null
  buildah config --env PATH=/usr/local/bin:/usr/bin:/bin "$container"
  buildah commit --signature-policy "$work/policy.json" --quiet "$container" "localhost/$1" > /dev/null
  buildah rm "$container" > /dev/null
}

say "base images of $($node --version)"
base trial-base
# What bin/groundswell calls.
copy /bin/sh /usr/bin/dirname /usr/bin/readlink
import trial-base
base trial-build
# The stage that installs needs npm, a shell, and what they call.
copy /usr/bin/env /bin/mkdir /bin/sh
mkdir -p "$root/usr/local/lib/node_modules" "$root/root" "$root/etc/ssl/certs" "$root/bin"
cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
[ -e "$root/bin/sh" ] || cp --dereference /bin/sh "$root/bin/sh"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2> /dev/null || true
import trial-build

say "build"
# The stage installs from npm's cache, without a network. This Node has installed the package once before.
first=$work/first
mkdir "$first"
(cd "$first" && PATH=$(dirname "$node"):$PATH npm install --prefer-offline --omit=dev --ignore-scripts --no-audit --no-fund \
  --no-save --loglevel=error --cache "$work/npm" "$OLDPWD/$archive" > /dev/null)
printf 'offline=true\ncache=/npm\nregistry=%s\n' "$(npm config get registry 2> /dev/null)" > "$work/npmrc"
mounts=(--volume "$work/npm:/npm" --volume "$work/npmrc:/usr/local/etc/npmrc:ro")
timeout 300 buildah bud --signature-policy "$work/policy.json" --isolation chroot --format docker --quiet \
  --build-arg BUILD=localhost/trial-build --build-arg BASE=localhost/trial-base \
  "${mounts[@]}" --file deploy/Dockerfile --tag localhost/groundswell . > "$work/build.log" 2>&1 || {
  cat "$work/build.log"
  exit 1
}
grep -E '^added' "$work/build.log" || true
podman image inspect localhost/trial-base --format 'base {{.Size}} bytes'
podman image inspect localhost/groundswell --format 'image {{.Size}} bytes, user {{.Config.User}}, entry {{.Config.Entrypoint}} {{.Config.Cmd}}, health {{.Config.Healthcheck.Test}}'

say "run: read-only, no capabilities, no new privileges, user 1000"
data=$work/data
mkdir -m 0700 "$data"
chown 1000:1000 "$data"
podman create --name "$name" --read-only --read-only-tmpfs=false --user 1000:1000 --cap-drop ALL \
  --security-opt no-new-privileges --network host --no-healthcheck --ulimit host --volume "$data:/data" \
  --env GROUNDSWELL_HOST=127.0.0.1 --env GROUNDSWELL_PORT=18080 --env GROUNDSWELL_ADMIN_PORT=18081 \
  localhost/groundswell > /dev/null
podman start "$name" > /dev/null
program=/app/node_modules/groundswell/dist/cli.js
for _ in $(seq 300); do
  podman exec "$name" node $program health > "$work/health" 2>&1 && break
  sleep 0.2
done
say "health says: $(cat "$work/health")"
grep -q '^ready$' "$work/health" || { podman logs "$name"; exit 1; }
main=$(podman inspect "$name" --format '{{.State.Pid}}')
grep -E '^(Uid|Gid|CapEff|CapBnd|NoNewPrivs)' "/proc/$main/status" | tr '\t\n' '  '
echo
grep -E ' / ' "/proc/$main/mountinfo" | grep -o ' / / [a-z,]*' || true
curl --silent --fail 'http://127.0.0.1:18080/v2/buoys/nearest?lat=43.5&lng=-1.6' | head -c 160
echo
curl --silent --fail --output /dev/null --write-out 'explorer %{http_code}\n' http://127.0.0.1:18080/
podman exec "$name" node $program doctor --data /data || say "doctor ended with $?"
if podman exec "$name" node -e 'require("fs").writeFileSync("/app/x", "")' 2> /dev/null; then
  say 'FAULT: the root file system can be written to'
  exit 1
fi
say "stop by TERM"
podman stop --time 20 "$name" > /dev/null
code=$(podman inspect "$name" --format '{{.State.ExitCode}}')
say "exit code $code"
podman logs "$name" 2>&1 | grep -v 'curl -H\|shown only once\|look around' | tail -8
[ "$code" = 0 ]
