import Localization

@testable import Templating

extension Templating.Markup {
  /// The HTML with English messages.
  var bytes: [UInt8] {
    var output = Templating.Output(reserving: 256)
    append(to: &output, Catalog.english)
    return output.bytes
  }
}
