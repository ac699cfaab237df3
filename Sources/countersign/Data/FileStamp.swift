import Foundation
import Identity

extension Instant {
  private static let fileStampStyle = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)

  /// The time for a file name, in whole seconds, such as `20261121T060102Z`.
  var fileStamp: String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(Self.fileStampStyle)
  }

  /// Creates a time from its ``fileStamp``; nil for any other text.
  init?(fileStamp text: some StringProtocol) {
    guard let date = try? Date(String(text), strategy: Self.fileStampStyle) else { return nil }
    self.init(seconds: Int64(date.timeIntervalSince1970))
    guard fileStamp == text else { return nil }
  }
}
