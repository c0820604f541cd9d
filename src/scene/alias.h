/* alias: keys and words of scenes and tasks that were renamed. The reader accepts an old name and prints a warning. */
#ifndef SDRS_SCENE_ALIAS_H
#define SDRS_SCENE_ALIAS_H

/* printf format of the warning about an old name. Arguments, all texts: the old name, the present name, the present
 * name. */
#define ALIAS_WARNING "'%s' is the old name of '%s' and will be refused from version 0.2 on: write '%s'"
/* Returns the present key of the schema object `object` if `key` is an old key of the object; otherwise returns `key`.
 * The text is static or `key` itself; the caller does not free it. Allocates nothing. */
const char* alias_key(const char* object, const char* key);
/* Returns old key number `index`, from 0, of the schema object `object`; NULL if the object has no more old keys.
 * Static. */
const char* alias_old_key(const char* object, int index);
/* Returns the present word if `word` is an old one, and `words` ("one|another") contains the present word but not
 * `word`. Otherwise returns `word`. */
const char* alias_word(const char* words, const char* word);

#endif
