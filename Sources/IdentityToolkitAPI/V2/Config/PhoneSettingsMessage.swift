import Identity
import JSON
import Text

/// The phone settings of a configuration: test numbers, and the regions that messages are sent to.
enum PhoneSettingsMessage {
  private static let regions = "smsRegionConfig"
  private static let policies = ["allowByDefault", "allowlistOnly"]

  /// Rejects a configuration with both policies, and unknown regions.
  static func checkRegions(of message: RequestMessage) throws(WireError) {
    guard let config = try message.message(regions) else { return }
    var given: [String] = []
    for (name, value) in config.object where !value.isNull {
      if let policy = policies.first(where: { Names.match(name, $0) }) { given.append(policy) }
    }
    guard given.count < 2 else {
      throw .oneof("sms_region_policy", setting: given[1], in: config.path)
    }
    let codes =
      try (config.message("allowByDefault")?.texts("disallowedRegions") ?? [])
      + (config.message("allowlistOnly")?.texts("allowedRegions") ?? [])
    guard codes.allSatisfy(SMSRegion.isKnown) else {
      throw WireError("INVALID_REGION_CODE : Invalid region code.")
    }
  }

  /// Keeps the stored test numbers at a path if a caller that doesn't see them writes back what it
  /// read.
  ///
  /// A body or a mask that names them changes them, which is refused.
  static func keepTestNumbers(
    at path: [String], of stored: JSON.Object, after mask: UpdateMask, _ body: JSON.Object,
    in resource: inout JSON.Object
  ) {
    guard Resource.value(at: path, in: body) == nil,
      !mask.paths.contains(where: { $0.starts(with: path) }),
      let numbers = Resource.value(at: path, in: stored)
    else { return }
    Resource.set(numbers, at: path, in: &resource)
  }

  static func normalizeTestNumbers(
    at path: [String], in body: inout JSON.Object
  ) throws(WireError) {
    guard let numbers = Resource.value(at: path, in: body)?.objectValue else { return }
    var places: [String: Int] = [:]
    var normalized: [(number: String, code: JSON)] = []
    for (number, code) in numbers {
      guard let number = TestNumber.normalized(number.text) else {
        throw WireError("INVALID_PHONE_NUMBER : Invalid format.")
      }
      // Two spellings of a number are one number, with the last code.
      if let place = places[number] {
        normalized[place].code = code
      } else {
        places[number] = normalized.count
        normalized.append((number, code))
      }
    }
    var object = JSON.Object()
    for (number, code) in normalized { object.append(number, code) }
    Resource.set(.object(object), at: path, in: &body)
  }
}
