/// The media type of a file, by its extension.
struct MediaType {
  let text: String
  /// Whether compression is worth trying.
  let isCompressible: Bool

  init(ofFile name: String) {
    let ending = name.split(separator: "/").last?.split(separator: ".").dropFirst().last ?? ""
    (text, isCompressible) =
      switch ending.lowercased() {
      case "css": ("text/css; charset=utf-8", true)
      case "js", "mjs": ("text/javascript; charset=utf-8", true)
      case "html": ("text/html; charset=utf-8", true)
      case "txt": ("text/plain; charset=utf-8", true)
      case "json", "map": ("application/json", true)
      case "webmanifest": ("application/manifest+json", true)
      case "svg": ("image/svg+xml", true)
      case "ico": ("image/x-icon", true)
      case "png": ("image/png", false)
      case "jpg", "jpeg": ("image/jpeg", false)
      case "webp": ("image/webp", false)
      case "avif": ("image/avif", false)
      case "woff2": ("font/woff2", false)
      case "woff": ("font/woff", false)
      default: ("application/octet-stream", false)
      }
  }
}
