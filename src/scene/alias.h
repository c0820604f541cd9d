/* alias: old names of keys and words in scene and task files. The reader accepts an old name and prints a warning. */
#ifndef SDRS_SCENE_ALIAS_H
#define SDRS_SCENE_ALIAS_H

/* Format of the warning about an old name, for printf. Its arguments are three texts: the old name, then the present
 * name twice. */
#define ALIAS_WARNING "'%s' is the old name of '%s' and will be refused from version 0.2 on: write '%s'"
/* Returns the present name of a key of a schema object. If `key` is no old name, returns `key` itself; otherwise a
 * static text. Allocates nothing. */
const char* alias_key(const char* object, const char* key);
/* Returns one of the old keys of a schema object. index: from 0. Returns NULL if the object has no more old keys. The
 * text is static. */
const char* alias_old_key(const char* object, int index);
/* Returns the present name of a word if the word was renamed, otherwise `word` itself. words: the allowed words
 * ("one|another"). A renamed word is replaced only if `words` contains the present name and not `word`. */
const char* alias_word(const char* words, const char* word);

#endif
