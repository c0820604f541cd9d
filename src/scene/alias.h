/* alias: renamed keys and words of scenes and tasks. The old ones are read with a warning. */
#ifndef SDRS_SCENE_ALIAS_H
#define SDRS_SCENE_ALIAS_H

/* Format of the warning that an old name is used: the old name, then twice the present one. */
#define ALIAS_WARNING "'%s' is the old name of '%s' and will be refused from version 0.2 on: write '%s'"
/* Returns the present key of an object of the schema for an old one, else `key` itself. Borrowed; no allocation. */
const char* alias_key(const char* object, const char* key);
/* Returns the old key number `index` of an object of the schema, NULL past the last. */
const char* alias_old_key(const char* object, int index);
/* Returns the present word for an old one if `words` ("one|another") has the present but not the old one; otherwise
 * returns `word`. */
const char* alias_word(const char* words, const char* word);

#endif
