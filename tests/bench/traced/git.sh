# needs: git
git init -q r
cd r
git config user.email a@b
git config user.name a
echo a > a
git add .
git commit -qm a
git log --stat
git grep a
git status
git gc -q
git checkout -qb b
git clone -q . ../q
git blame a
git archive HEAD
