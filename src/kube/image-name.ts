/** Last path segment of an image, without tag and digest. */
export function imageName(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.replace(/[@:].*$/, '');
}
