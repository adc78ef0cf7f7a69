# needs: tar gzip patch find sed
cp -a a.c d.c
mv d.c e.c
ln -s e.c f.c
mkdir -p x/y
rm -r x
find . -name '*.c' -exec cat {} +; grep -rn main .
sed -i s/main/main/ e.c
sort a.c | uniq -c
diff a.c e.c
tar czf t.tgz a.c
tar xzf t.tgz
gzip -k a.c
touch z
chmod 600 z
timeout 1 true
nproc
stat a.c
df .
du -s .
dd if=/dev/zero of=d count=2
truncate -s 5 d
install -m 644 a.c i
nice true
cmp a.c e.c
sha256sum a.c
awk 1 a.c
xargs -a a.c echo
mkfifo p
(sleep 5 & kill $!; wait)
