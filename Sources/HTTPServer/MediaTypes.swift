/// The media type of a file, by its extension.
struct MediaType {
  let text: String
  /// Whether compression is worth trying.
  let isCompressible: Bool

  init(ofFile name: String) {
    let ending = name.split(separator: "/").last?.split(separator: ".").dropFirst().last ?? ""
    switch ending.lowercased() {
    case "css": self.init("text/css; charset=utf-8", true)
    case "js", "mjs": self.init("text/javascript; charset=utf-8", true)
    case "html": self.init("text/html; charset=utf-8", true)
    case "txt": self.init("text/plain; charset=utf-8", true)
    case "json", "map": self.init("application/json", true)
    case "webmanifest": self.init("application/manifest+json", true)
    case "svg": self.init("image/svg+xml", true)
    case "ico": self.init("image/x-icon", true)
    case "png": self.init("image/png", false)
    case "jpg", "jpeg": self.init("image/jpeg", false)
    case "webp": self.init("image/webp", false)
    case "avif": self.init("image/avif", false)
    case "woff2": self.init("font/woff2", false)
    case "woff": self.init("font/woff", false)
    default: self.init("application/octet-stream", false)
    }
  }

  private init(_ text: String, _ isCompressible: Bool) {
    self.text = text
    self.isCompressible = isCompressible
  }
}
