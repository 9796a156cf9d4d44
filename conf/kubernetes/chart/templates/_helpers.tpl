{{/* Name of everything that a release has; -epp must still fit behind it. A Service has no dots, and begins with a letter. */}}
{{- define "understudy.name" -}}
{{- $name := .Release.Name | replace "." "-" }}
{{- regexMatch "^[0-9]" $name | ternary (printf "understudy-%s" $name) $name | trunc 59 | trimSuffix "-" }}
{{- end }}

{{/* Labels of the pods, which a Deployment cannot change, and by which they are found. */}}
{{- define "understudy.selector" -}}
app.kubernetes.io/name: understudy
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Labels of everything. */}}
{{- define "understudy.labels" -}}
{{ include "understudy.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* What a probe says besides path and port. */}}
{{- define "understudy.scheme" -}}
{{- if .Values.tls.secretName }}, scheme: HTTPS{{ end }}
{{- end }}
