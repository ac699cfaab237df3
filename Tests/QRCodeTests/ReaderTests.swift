import Foundation
import QRCode
import Testing

/// An independent QR code reader.
enum Reader {
  static let path = "/usr/bin/zbarimg"
  static let isPresent = FileManager.default.isExecutableFile(atPath: path)
}

@Suite(.enabled(if: Reader.isPresent, "needs zbarimg; install zbar-tools"))
struct ReaderTests {
  @Test(arguments: [
    QRCodeTests.uri, "a", "0123456789", "ALPHA NUMERIC", "otpauth://totp/Société:日本🙂?secret=ABC",
    String(repeating: "long enough for a code of many blocks. ", count: 55),
  ])
  func `a reader decodes the text from the image`(text: String) throws {
    let image = try Self.picture(of: QRCode(text: text).svg(label: "Code"))
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pgm")
    try image.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }

    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: Reader.path)
    process.arguments = ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.path()]
    process.standardOutput = output
    try process.run()
    let read = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(String(decoding: read, as: UTF8.self) == text + "\n")
  }

  /// Draws the runs of the image's path as a portable graymap, with four pixels per module.
  private static func picture(of svg: String) throws -> Data {
    let scale = 4
    let side = try #require(svg.firstMatch(of: #/viewBox="0 0 (\d+) /#).flatMap { Int($0.1) })
    var pixels = [UInt8](repeating: 255, count: side * side * scale * scale)
    for run in svg.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
      let (x, y) = (try #require(Int(run.1)), try #require(Int(run.2)))
      let width = try #require(Int(run.3))
      #expect(run.3 == run.4)
      for row in y * scale..<(y + 1) * scale {
        for column in x * scale..<(x + width) * scale {
          pixels[row * side * scale + column] = 0
        }
      }
    }
    return Data("P5 \(side * scale) \(side * scale) 255\n".utf8) + pixels
  }
}
