import Compression
import FoundationEssentials
public import HTTP
import Host

/// The files in a folder, held in memory.
///
/// Each file is compressed once if that makes it smaller, and tagged with a hash of its content.
/// URLs from `link` contain the hash and can be cached forever; others must be revalidated, which
/// costs a 304 when nothing changed. Files whose names start with a dot are skipped.
public struct StaticFiles: Sendable {
  private struct File: Sendable {
    let link: String
    let version: String
    let plain: Variant
    let compressed: Variant?
  }

  /// One encoding of a file's content.
  private struct Variant: Sendable {
    let tag: EntityTag
    let kept: HeldResponse
    let checked: HeldResponse
  }

  private let prefix: String
  private var files: [String: File] = [:]

  /// Reads all files in a folder and its subfolders.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - prefix: The URL prefix, with slashes at both ends, such as `/static/`.
  ///   - fields: Header fields for every file, such as `X-Content-Type-Options`.
  /// - Throws: `ServerError.unreadableFile`.
  public init(folder: String, prefix: String, fields: Fields = Fields()) throws(ServerError) {
    precondition(prefix.hasPrefix("/") && prefix.hasSuffix("/"), "a prefix stands between slashes")
    self.prefix = prefix
    let names: [String]
    do { names = try ReadableFile.paths(in: folder) } catch {
      throw .unreadable(error.path, error.reason)
    }
    for name in names where !name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) {
      let path = folder + "/" + name
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder else {
        continue
      }
      let data: [UInt8]
      do { data = try ReadableFile.contents(path) } catch { throw .unreadable(path, error) }
      add(name, data, fields)
    }
  }

  private mutating func add(_ name: String, _ bytes: [UInt8], _ fields: Fields) {
    let type = MediaType(ofFile: name)
    let version = hash(bytes)
    let compressed =
      type.isCompressible ? gzip(bytes).flatMap { $0.count < bytes.count ? $0 : nil } : nil
    var fields = fields
    fields[.contentType] = type.text
    if compressed != nil { fields[.vary] = "Accept-Encoding" }
    guard let plain = variant(bytes, EntityTag(version), fields) else { return }
    var other: Variant?
    if let compressed {
      fields[.contentEncoding] = "gzip"
      other = variant(compressed, EntityTag(version + "-gzip"), fields)
    }
    var path = prefix
    for (index, segment) in name.split(separator: "/").enumerated() {
      if index > 0 { path += "/" }
      path += Path(nil, parameters: String.self)(String(segment)).dropFirst()
    }
    files[path] = File(
      link: path + "?v=" + version, version: "v=" + version, plain: plain, compressed: other)
  }

  private func variant(_ bytes: [UInt8], _ tag: EntityTag, _ fields: Fields) -> Variant? {
    var kept = fields
    kept[.eTag] = tag.description
    var checked = kept
    kept[.cacheControl] = "public, max-age=31536000, immutable"
    checked[.cacheControl] = "no-cache"
    guard let kept = HeldResponse(bytes: bytes, fields: kept),
      let checked = HeldResponse(bytes: bytes, fields: checked)
    else { return nil }
    return Variant(tag: tag, kept: kept, checked: checked)
  }

  /// Returns the URL of a file with its hash; nil when there's no such file.
  ///
  /// - Parameter name: The path in the folder, such as `console.css`.
  /// - Returns: A path such as `/static/console.css?v=…`, which browsers can cache forever.
  public func link(_ name: String) -> String? {
    files[prefix + name]?.link
  }

  /// Returns the response to a request for one of the files; nil for any other request.
  public func response(to request: Request) -> Response? {
    guard let file = files[request.target.rawPath] else { return nil }
    guard request.method == .get || request.method == .head else {
      var refusal = Response.text("A file can only be read.\n", status: .methodNotAllowed)
      refusal.fields[.allow] = "GET, HEAD"
      return refusal
    }
    var variant = file.plain
    if let compressed = file.compressed, let codings = request.fields[.acceptEncoding],
      acceptsGzip(codings)
    {
      variant = compressed
    }
    let held = request.target.rawQuery == file.version ? variant.kept : variant.checked
    let response = Response(fields: held.fields, body: .file(held))
    guard request.fields[.ifNoneMatch] != nil else { return response }
    return response.conditional(on: variant.tag, for: request)
  }
}

/// Returns whether an `Accept-Encoding` accepts gzip with a weight above zero (RFC 9110 section
/// 12.5.3).
func acceptsGzip(_ field: String) -> Bool {
  for coding in field.split(separator: ",") {
    let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
    guard let name = parts.first?.lowercased(), name == "gzip" || name == "x-gzip" else { continue }
    let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }
    return weight.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
  }
  return false
}

/// Returns a 64-bit FNV-1a hash in 16 hexadecimal digits, which distinguishes versions of a file
/// and isn't a protection against tampering.
private func hash(_ bytes: [UInt8]) -> String {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  let digits = String(hash, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}

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
