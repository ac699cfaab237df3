/// What a browser calls itself, in words that its owner knows it by.
enum BrowserWords {
  /// `Firefox on Windows`; what is not known is said so.
  static func name(_ userAgent: String) -> String {
    known(userAgent) ?? "A browser that does not say which"
  }

  /// `Firefox on Windows`; nil for what is not known.
  ///
  /// Browsers name their forebears too, so the order matters.
  static func known(_ userAgent: String) -> String? {
    let browsers = [
      ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
      ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
      ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
    ]
    let systems = [
      ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
      ("CrOS", "ChromeOS"), ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]
    let browser = browsers.first { userAgent.contains($0.0) }?.1
    let system = systems.first { userAgent.contains($0.0) }?.1
    switch (browser, system) {
    case (let browser?, let system?): return "\(browser) on \(system)"
    case (let browser?, nil): return browser
    case (nil, let system?): return "A browser on \(system)"
    case (nil, nil): return nil
    }
  }
}
