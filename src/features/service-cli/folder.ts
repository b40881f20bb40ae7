/** Of an absolute path, of any system. */
export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'));
  return cut <= 0 ? file.slice(0, 1) : file.slice(0, cut);
}
